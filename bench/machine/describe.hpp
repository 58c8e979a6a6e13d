// SPDX-License-Identifier: Apache-2.0
// The report's description of this machine and of this build of the program.
#pragma once

#include <string>

#include "bench/run_config/run_config.hpp"
#include "cloud/catalog/catalog.hpp"
#include "reports/record/environment.hpp"

namespace gpusizer {

record::Tool describe_tool();

// Host, processor, memory, system, devices of every backend and the libraries that compute, allowed variables, and the
// instance type: `stated_instance` ([CLOUD:]NAME[@REGION], from --as) or what the firmware says. Throws Error(usage)
// when the stated one is not in the catalogue.
record::Environment describe_machine(const std::string& stated_instance);

// "Debian GNU/Linux 12 (bookworm)" of the text of /etc/os-release; empty when it does not say.
std::string parse_os_release(std::string_view text);

// The instance type of a cloud whose firmware tells it (AWS: vendor "Amazon EC2", product "c7i.xlarge"); no network.
std::optional<record::Instance> instance_of_firmware(const std::string& vendor, const std::string& product);

// Now, as "2026-01-31T12:00:00Z".
std::string utc_now();

}  // namespace gpusizer
