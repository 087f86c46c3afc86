// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_session.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "chat_record.h"
#include "console.h"
#include "errors.h"
#include "holdfast/base/sha256.h"
#include "holdfast/formats/utf8.h"

namespace holdfast::app {

namespace {

/// What ids mean: equal for equal vocabularies.
std::string vocabulary_digest(const Tokenizer& tokenizer) {
  Sha256 digest;
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    const std::string_view piece = tokenizer.piece(id);
    const auto type = static_cast<unsigned char>(tokenizer.type(id));
    const auto size = static_cast<uint32_t>(piece.size());
    digest.add(std::as_bytes(std::span(&size, 1)));
    digest.add(std::as_bytes(std::span(&type, 1)));
    digest.add(std::as_bytes(std::span(piece)));
  }
  return digest.finish().hex();
}

std::tm local_time(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local = {};
  localtime_r(&time, &local);
  return local;
}

std::string name_of_now() {
  char text[32];
  const std::tm now = local_time(std::time(nullptr));
  std::strftime(text, sizeof(text), "%Y-%m-%d-%H%M%S", &now);
  return text;
}

} // namespace

ChatSession::ChatSession(ChatArguments& arguments, RunningModel& running)
    : arguments_(arguments), running_(running) {
  vocabulary_ = vocabulary_digest(running_.loaded.source.tokenizer);
  if (arguments_.folder.kept()) {
    store_ = std::make_unique<ChatStore>(*running_.cache, running_.file_name);
  }
  if (arguments_.goes_on) {
    const auto name = arguments_.continued.empty()
        ? store_->newest()
        : std::optional(arguments_.continued);
    if (!name) {
      throw UserError("--continue: expected a chat that was kept, got none");
    }
    load(*name);
    return;
  }
  ChatHistory fresh;
  fresh.vocabulary = vocabulary_;
  fresh.system = arguments_.system.value_or("");
  fresh.seed = *arguments_.seed;
  fresh.begun = std::time(nullptr);
  use(std::move(fresh));
  if (store_) {
    name_ = arguments_.name.empty() ? name_of_now() : arguments_.name;
    if (arguments_.name.empty()) {
      if (!store_->try_begin(name_)) {
        name_ = begin_numbered(name_);
      }
      return;
    }
    store_->open(name_);
    if (store_->has(name_)) {
      throw UserError(
          "--name: expected a new name, got that of a chat which is kept "
          "(--continue " +
          name_ + " goes on with it)");
    }
  }
}

bool ChatSession::has_template() const {
  return !running_.loaded.source.chat_template.empty();
}

void ChatSession::use(ChatHistory history) {
  history_ = std::move(history);
  // A seed that was asked for holds; else the chat's own.
  if (!arguments_.drawn_seed) {
    history_.seed = *arguments_.seed;
  }
  arguments_.generate.sampling.seed = history_.seed;
  const auto& source = running_.loaded.source;
  prompt_ = std::make_unique<const ChatPrompt>(
      source.tokenizer,
      source.chat_template,
      ChatPrompt::Options{
          .special = arguments_.special, .begun = local_time(history_.begun)});
}

void ChatSession::load(const std::string& name) {
  require_folder("/load");
  ChatStore::Opened former = store_->opened();
  store_->open(name);
  try {
    use(loaded(name));
    name_ = name;
  } catch (...) {
    store_->reopen(std::move(former)); // that one goes on
    throw;
  }
}

ChatHistory ChatSession::loaded(const std::string& name) {
  ChatHistory history = store_->load();
  if (history.vocabulary != vocabulary_) {
    throw UserError(
        "chat \"" + name +
        "\": expected one of a model with the same "
        "vocabulary, got another's");
  }
  if (!history.fits(running_.loaded.source.tokenizer.size())) {
    throw UserError(
        "chat \"" + name + "\": expected tokens of the vocabulary, got others");
  }
  return history;
}

void ChatSession::require_folder(const char* command) const {
  if (!store_) {
    throw UserError(
        std::string(command) +
        ": expected a folder of state (--state), got none: this chat is in "
        "memory alone");
  }
}

bool ChatSession::keep(const ChatHistory& history) {
  return store_ && store_->store(history);
}

void ChatSession::change(ChatHistory history) {
  keep(history);
  history_ = std::move(history);
}

void ChatSession::keep_as(const std::string& name, ChatStore::Opened former) {
  try {
    keep(history_);
  } catch (...) {
    store_->reopen(std::move(former));
    throw;
  }
  name_ = name;
}

bool ChatSession::keep_answer(std::unique_ptr<ResumableRun> run) {
  if (run) {
    answered_.push_back(std::move(run));
  }
  bool durable = false;
  try {
    durable = keep(history_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfBudget) {
      throw;
    }
    complain(std::string("the chat is not on disk: ") + error.what());
  }
  if (durable) {
    for (const auto& each : answered_) {
      each->complete();
    }
    answered_.clear();
  }
  return durable;
}

void ChatSession::ask_on_disk(const ChatHistory::Pending& question) {
  history_.pending = question;
  if (store_) {
    store_->store_question(history_);
  }
}

void ChatSession::drop_question() noexcept {
  history_.pending.reset();
  try {
    if (store_) {
      store_->drop_question();
    }
  } catch (const std::exception& error) {
    // The chat would answer it when it is gone on with.
    complain(std::string("the question stays on disk: ") + error.what());
  }
}

std::unique_ptr<ResumableRun> ChatSession::begin_run() {
  if (!store_ || arguments_.model.state.reference_read) {
    return nullptr; // what a reference read gives depends on chunks
  }
  auto run = std::make_unique<ResumableRun>(
      *running_.cache,
      arguments_.checkpoints.with(answer_key(name_, history_.turns().size())));
  if (!run->damage().empty()) {
    complain("the interrupted answer is begun anew: " + run->damage());
  }
  return run;
}

ChatAnswer
ChatSession::ask(const ChatHistory::Pending& question, const Hooks& hooks) {
  if (!is_utf8(question.user)) {
    throw UserError("expected a message in UTF-8, got other bytes");
  }
  const auto last = history_.last();
  const TurnPrompt prompt =
      prompt_->next(last ? &*last : nullptr, history_.asked(question));
  std::unique_ptr<ResumableRun> run;
  ChatAnswer answer;
  answer.rewritten = prompt.rewritten;
  try {
    ask_on_disk(question);
    answer.result = answered(prompt, hooks, run);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) {
      drop_question();
    }
    throw;
  }
  history_.add(
      question,
      prompt.tokens,
      {.text = answer.result.text,
       .ids = answer.result.ids,
       .finish = answer.result.finish_reason});
  answer.durable = keep_answer(std::move(run));
  return answer;
}

Generation ChatSession::answered(
    const TurnPrompt& prompt,
    const Hooks& hooks,
    std::unique_ptr<ResumableRun>& resumable) {
  resumable = begin_run();
  try {
    return generate(prompt, hooks, resumable.get());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported || !resumable ||
        !resumable->point()) {
      throw;
    }
    complain(
        std::string("the interrupted answer is begun anew: ") + error.what());
  }
  resumable->complete();
  resumable.reset(); // its claim of the key
  resumable = begin_run();
  return generate(prompt, hooks, resumable.get());
}

Generation ChatSession::generate(
    const TurnPrompt& prompt,
    const Hooks& hooks,
    ResumableRun* resumable) {
  GenerateOptions options = arguments_.generate;
  options.stops.insert(
      options.stops.end(), prompt_->stops().begin(), prompt_->stops().end());
  std::optional<Error> failure;
  const GenerateHooks generate_hooks{
      .text = [&](int64_t, std::string_view text) { hooks.text(text); },
      .interrupted = hooks.interrupted,
      .failure = &failure,
      .resumable = resumable};
  Generator generator = running_.generator();
  generator.keeps_texts = false; // the chat is the record
  auto results = generator.run({prompt.tokens}, options, generate_hooks);
  if (failure) {
    complain(failure->what());
  }
  return std::move(results.front());
}

void ChatSession::set_system(const std::string& text) {
  if (!is_utf8(text)) {
    throw UserError("/system: expected UTF-8, got other bytes");
  }
  ChatHistory changed = history_;
  changed.system = text;
  change(std::move(changed));
}

void ChatSession::go_to(int64_t turn) {
  ChatHistory changed = history_;
  changed.go_to(turn);
  change(std::move(changed));
}

void ChatSession::save_as(const std::string& name) {
  require_folder("/save");
  require_chat_name(name);
  ChatStore::Opened former = store_->opened();
  if (name != name_) {
    store_->open(name);
    if (store_->has(name)) {
      store_->reopen(std::move(former));
      throw UserError(
          "expected a new name, got that of a chat which is kept: " + name);
    }
  }
  keep_as(name, std::move(former));
}

void ChatSession::fork() {
  require_folder("/fork");
  ChatStore::Opened former = store_->opened();
  keep_as(begin_numbered(name_), std::move(former));
}

std::vector<std::string> ChatSession::names() {
  require_folder("/load");
  return store_->names();
}

std::string ChatSession::begin_numbered(const std::string& before) {
  for (int number = 2;; ++number) {
    std::string name = before + "-" + std::to_string(number);
    if (store_->try_begin(name)) {
      return name;
    }
  }
}

} // namespace holdfast::app
