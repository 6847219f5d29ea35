// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

/// A listener that hears nothing, but for what is overridden.
struct deaf_listener : doctest::IReporter {
    void report_query(doctest::QueryData const&) override {}
    void test_run_start() override {}
    void test_run_end(doctest::TestRunStats const&) override {}
    void test_case_start(doctest::TestCaseData const&) override {}
    void test_case_reenter(doctest::TestCaseData const&) override {}
    void test_case_end(doctest::CurrentTestCaseStats const&) override {}
    void test_case_exception(doctest::TestCaseException const&) override {}
    void subcase_start(doctest::SubcaseSignature const&) override {}
    void subcase_end() override {}
    void log_assert(doctest::AssertData const&) override {}
    void log_message(doctest::MessageData const&) override {}
    void test_case_skipped(doctest::TestCaseData const&) override {}
};

/// How many test cases the last run of the program's tests had; a filter that fits none must not pass.
struct selected_tests : deaf_listener {
    static inline unsigned number = 0;

    explicit selected_tests(doctest::ContextOptions const&) {}
    void test_run_end(doctest::TestRunStats const& run) override { number = run.numTestCasesPassingFilters; }
};
REGISTER_LISTENER("selected_tests", 2, selected_tests);
