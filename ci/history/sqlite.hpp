// SPDX-License-Identifier: Apache-2.0
// SQLite as two small classes: a database and a statement. Only this folder knows SQLite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gpusizer/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace gpusizer::ci {

// The file is no database or a damaged one: it can be made again from the reports.
class DamagedIndex : public Error {
 public:
  using Error::Error;
};

class Statement {
 public:
  Statement(sqlite3* database, const std::string& sql, const std::string& where);

  Statement& bind(int place, std::int64_t value);  // places count from 1
  Statement& bind(int place, double value);
  Statement& bind(int place, const std::string& value);
  bool step();  // true: there is a row
  void run();   // to the end, then ready to be bound again

  std::int64_t integer(int column) const;  // columns count from 0
  double real(int column) const;
  std::string text(int column) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  sqlite3* database_;
  std::string where_;
};

// Waits up to ten seconds for other processes. Throws DamagedIndex, or Error(environment).
class Database {
 public:
  explicit Database(const std::filesystem::path& path);

  void execute(const std::string& sql);
  Statement prepare(const std::string& sql) const;

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  std::string where_;
  std::unique_ptr<sqlite3, Closer> database_;
};

// Everything between construction and commit(), or nothing.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace gpusizer::ci
