// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/threads.hpp>

namespace papcoll::inline v0::detail {

template void attach_transport(threads::endpoint& t, attach_options const& options);

template void run_call(threads::endpoint& t, call_description& call, policy_ref policy);
template auto begin_call(threads::endpoint& t, call_description& call, policy_ref policy) -> request;
template auto prepare_call(threads::endpoint& t, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call>;

} // namespace papcoll::inline v0::detail
