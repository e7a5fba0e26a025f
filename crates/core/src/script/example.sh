#!/bin/bash
# What each task of the role `worker` runs.
# The runner puts the values of secrets in the places of `<% $secrets.… %>`.
# The storage `nfs` is mounted at /mnt/nfs.
set -o errexit -o pipefail

# ---- exit 1 of 1: upload, after success ----
pinnace_exit_1() (
set -o errexit
cp a b
)

# Runs when the shell ends, whatever ended it.
pinnace_exit() {
  pinnace_outcome=$?
  trap - EXIT
  trap '' HUP INT TERM
  set +o errexit
  if [ "$pinnace_outcome" -eq 0 ] && [ -z "${pinnace_command_ran:-}" ]; then
    echo 'pinnace: a start hook left the shell before the command could run' >&2
    pinnace_outcome=1
  fi
  pinnace_status=$pinnace_outcome
  if [ "$pinnace_outcome" -eq 0 ]; then
    pinnace_exit_1
    pinnace_hook=$?
    if [ "$pinnace_status" -eq 0 ]; then pinnace_status=$pinnace_hook; fi
  fi
  exit "$pinnace_status"
}
trap pinnace_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- environment ----
export GREETING='it'\''s me'

# ---- start 1 of 1: install tools, its failure is ignored ----
set +o errexit
npm install x
set -o errexit

# ---- command ----
pinnace_command_ran=yes
(
set -o errexit
set -o nounset
git clone https://<% $secrets.token %>@host/x
true
)
exit 0
