// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_claims.h"

#include <utility>

#include "chat_record.h"
#include "errors.h"
#include "holdfast/prefix/prefix_cache.h"
#include "state_target.h"

namespace holdfast::app {

KeyClaims claims_of(const DiskTier& tier) {
  return {tier.options().files, tier.options().folder + "/claims"};
}

std::shared_ptr<void>
claim_record(const DiskTier& tier, const RecordName& name) {
  const bool chat = name.space == kChatSpace;
  if (!chat && name.space != kGenerationSpace) {
    return nullptr;
  }
  auto claim = claims_of(tier).claim(chat ? chat_claim(name.name) : name.name);
  if (claim.status().code() == ErrorCode::kUnsupported) {
    throw UserError(
        shown(name) +
        ": expected a record that no process is at work on, got one that is in "
        "use (end that process first)");
  }
  return std::move(claim).value();
}

} // namespace holdfast::app
