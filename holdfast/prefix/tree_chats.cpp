// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: which nodes hold RAM below which, and whose they are. A node that
// gets its first image joins the chat that ends above it; where that goes on
// already, the node begins a chat, and what both pass through belongs to none
// from then on. A shared node with nothing in RAM below begins a chat again.

#include <algorithm>

#include "holdfast/base/check.h"
#include "holdfast/prefix/tree_core.h"

namespace holdfast {

namespace {

/// The nearest node from `node` upwards that holds an image in RAM, or below
/// which another branch does.
Node* busy_from(Node* node) {
  while (node && !node->holds_ram()) {
    node = node->parent;
  }
  return node;
}

} // namespace

Chat& TreeCore::add_chat(uint64_t used) {
  auto place = chats.end();
  while (place != chats.begin() && std::prev(place)->used < used) {
    --place;
  }
  const auto added = chats.emplace(place);
  added->self = added;
  added->used = used;
  ++stats.chats;
  return *added;
}

void TreeCore::join(Node& node, Chat& chat) {
  node.chat = &chat;
  ++chat.nodes;
  count_in_chat(node, 1);
}

void TreeCore::leave(Node& node) {
  Chat* chat = node.chat;
  if (!chat) {
    return;
  }
  count_in_chat(node, -1);
  node.chat = nullptr;
  if (--chat->nodes == 0) {
    ensure(
        chat->leaves.empty(),
        "[prefix] expected an ended chat without leaves, got some");
    chats.erase(chat->self);
    --stats.chats;
  }
}

void TreeCore::add_leaf(Node& node) {
  if (!node.chat) {
    claim(node);
  }
  node.chat->leaves.push_back(&node);
}

void TreeCore::remove_leaf(Node& node) {
  std::erase(node.chat->leaves, &node);
}

Chat* TreeCore::chat_below(Node* node) {
  Node* above = busy_from(node);
  return above && above->ram_leaf() ? above->chat : nullptr;
}

Node* TreeCore::next_ram_leaf(const Node& leaf) {
  Node* at = leaf.parent;
  while (at && at->ram_images == 0 && at->ram_below <= 1) {
    at = at->parent;
  }
  return at;
}

void TreeCore::share_from(Node* node) {
  for (; node; node = node->parent) {
    if (node->chat) {
      leave(*node);
    } else if (node->ram_images > 0) {
      return; // and so is all above
    }
  }
}

void TreeCore::claim(Node& node) {
  Chat& chat = add_chat(node.used);
  for (Node* at = &node; at && !at->chat && at->ram_below <= 1;
       at = at->parent) {
    if (at->ram_images > 0) {
      join(*at, chat);
    }
  }
}

void TreeCore::gain_ram(Node& node) {
  if (node.ram_below == 0) {
    Node* above = busy_from(node.parent);
    Chat* chat = chat_below(node.parent);
    const bool parts = above && !chat;
    // Before others see it: a chat that ends above goes on here.
    for (Node* at = node.parent; at; at = at->parent) {
      const bool held = at->holds_ram();
      if (at->ram_leaf()) {
        remove_leaf(*at);
      }
      ++at->ram_below;
      if (held) {
        break;
      }
    }
    join(node, chat ? *chat : add_chat(tick));
    if (parts) {
      share_from(above);
    }
    add_leaf(node);
    return;
  }
  // Others below hold RAM: it is theirs where they are one chat.
  if (node.ram_below == 1) {
    const auto& below = node.children.ordered();
    const auto child = std::ranges::find_if(below, &Node::holds_ram);
    Node* at = *child;
    while (at->ram_images == 0 && at->ram_below == 1) {
      at = *std::ranges::find_if(at->children.ordered(), &Node::holds_ram);
    }
    if (at->chat) {
      join(node, *at->chat);
    }
  }
}

void TreeCore::lose_ram(Node& node) {
  if (node.ram_below > 0) {
    leave(node);
    return;
  }
  remove_leaf(node);
  leave(node);
  for (Node* at = node.parent; at; at = at->parent) {
    --at->ram_below;
    if (at->ram_leaf()) {
      add_leaf(*at);
    }
    if (at->holds_ram()) {
      return;
    }
  }
}

void TreeCore::touch(Node& node) {
  Chat* chat = node.chat;
  if (!chat) {
    return;
  }
  chat->used = tick;
  chats.splice(chats.begin(), chats, chat->self);
  if (chat->time_to_live < Clock::Duration::max()) {
    chat->expires = options.clock->now() + chat->time_to_live;
    next_expiry = std::min(next_expiry, chat->expires);
  } else {
    chat->expires = Clock::Moment::max();
  }
}

} // namespace holdfast
