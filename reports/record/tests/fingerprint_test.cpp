// SPDX-License-Identifier: Apache-2.0
// Fingerprints: what changes them, what must not, and that their hashes stay the same for ever.
#include "reports/record/fingerprint.hpp"

#include <gtest/gtest.h>

#include "reports/record/sha256.hpp"
#include "reports/record/tests/example_report.hpp"

namespace gpusizer::record {
namespace {

Fingerprint of(const Config& config, const Environment& environment) {
  return make_fingerprint(config, environment, example_report().tool);
}

TEST(Fingerprint, HashesAreStable) {
  EXPECT_EQ(hash_of({}), sha256("").substr(0, 16));
  EXPECT_EQ(hash_of({{"a", "1"}, {"b", "x=y\\z\n"}}), sha256("a=1\nb=x\\=y\\\\z\\n\n").substr(0, 16));
  EXPECT_NE(hash_of({{"a", "1\nb=2"}}), hash_of({{"a", "1"}, {"b", "2"}}));
}

TEST(Fingerprint, SameCaseOnAnotherHostCommitAndSeedIsTheSame) {
  const Fingerprint first = of(example_config(), example_environment());
  Environment other_host = example_environment();
  other_host.host_name = "ip-10-0-0-8";
  other_host.instance->region = "eu-west-1";
  Config other_seed = example_config();
  other_seed.seed = 7;
  other_seed.data_options["path"] = "/mnt/elsewhere";
  Tool other_commit = example_report().tool;
  other_commit.git_commit = "0000000";
  other_commit.version = "0.2.0";
  EXPECT_EQ(make_fingerprint(other_seed, other_host, other_commit), first);
}

TEST(Fingerprint, AnotherWorkloadOrMachineHasAnotherIdentity) {
  const Fingerprint first = of(example_config(), example_environment());
  Config batch = example_config();
  batch.batch_per_replica = 64;
  EXPECT_NE(of(batch, example_environment()).identity_hash, first.identity_hash);
  Environment machine = example_environment();
  machine.instance->type = "c7i.2xlarge";
  EXPECT_NE(of(example_config(), machine).identity_hash, first.identity_hash);
  EXPECT_EQ(of(example_config(), machine).environment_hash, first.environment_hash);
}

TEST(Fingerprint, AnotherLibraryIsAnotherEnvironmentOnly) {
  const Fingerprint first = of(example_config(), example_environment());
  Environment newer = example_environment();
  newer.libraries["oneDNN"] = "3.1.0";
  EXPECT_EQ(of(example_config(), newer).identity_hash, first.identity_hash);
  EXPECT_NE(of(example_config(), newer).environment_hash, first.environment_hash);
}

TEST(Fingerprint, StateIsInNoHash) {
  const Fingerprint cool = make_fingerprint(example_config(), example_environment(), {}, {{"celsius", "40"}});
  const Fingerprint hot = make_fingerprint(example_config(), example_environment(), {}, {{"celsius", "90"}});
  EXPECT_EQ(cool.identity_hash, hot.identity_hash);
  EXPECT_EQ(cool.environment_hash, hot.environment_hash);
  EXPECT_NE(cool, hot);
}

}  // namespace
}  // namespace gpusizer::record
