// SPDX-License-Identifier: Apache-2.0
// Calls of SQLite with their errors turned into sentences.
#include "ci/history/sqlite.hpp"

#include <sqlite3.h>

namespace gpusizer::ci {
namespace {

constexpr int kPatienceMs = 10'000;

[[noreturn]] void fail(sqlite3* database, int code, const std::string& where) {
  const std::string what = std::string("the index of the history cannot be used: ") + (database ? sqlite3_errmsg(database) : sqlite3_errstr(code));
  const int kind = code & 0xff;
  if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) throw DamagedIndex(Fault::environment, what, where);
  throw Error(Fault::environment, what, where, kind == SQLITE_BUSY ? "another job holds it; try again" : "");
}

void check(sqlite3* database, int code, const std::string& where) {
  if (code != SQLITE_OK) fail(database, code, where);
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Closer::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Statement::Statement(sqlite3* database, const std::string& sql, const std::string& where) : database_(database), where_(where) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
  statement_.reset(statement);
  check(database, code, where);
}

Statement& Statement::bind(int place, std::int64_t value) {
  check(database_, sqlite3_bind_int64(statement_.get(), place, value), where_);
  return *this;
}

Statement& Statement::bind(int place, double value) {
  check(database_, sqlite3_bind_double(statement_.get(), place, value), where_);
  return *this;
}

Statement& Statement::bind(int place, const std::string& value) {
  check(database_, sqlite3_bind_text(statement_.get(), place, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT), where_);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(database_, code, where_);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  check(database_, sqlite3_reset(statement_.get()), where_);
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))) : "";
}

Database::Database(const std::filesystem::path& path) : where_(path.string()) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database_.reset(database);
  check(database, code, where_);
  sqlite3_busy_timeout(database, kPatienceMs);
}

void Database::execute(const std::string& sql) {
  check(database_.get(), sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr), where_);
}

Statement Database::prepare(const std::string& sql) const { return {database_.get(), sql, where_}; }

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) {  // closing the database rolls back too
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace gpusizer::ci
