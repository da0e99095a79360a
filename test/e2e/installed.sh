#!/bin/sh
# Whether the webhook of the current kubeconfig's cluster decides: it refuses, warns and accepts.
set -eu
cd "$(dirname "$0")/../../manifests/samples"

try() { kubectl apply --dry-run=server -f "$1" 2>&1; }

fail() {
  echo "$1: $2" >&2
  exit 1
}

if output=$(try bad-target.yaml); then
  fail bad-target.yaml "accepted: $output"
fi
case $output in
  *'denied the request'* | *'is invalid:'*) ;;
  *) fail bad-target.yaml "refused by something else: $output" ;;
esac
output=$(try bad-settings.yaml)
test "$(echo "$output" | grep -c '^Warning: ')" -eq 2 || fail bad-settings.yaml "not two warnings: $output"
output=$(try good-url.yaml)
test "$(echo "$output" | grep -c '^Warning: ')" -eq 0 || fail good-url.yaml "warnings: $output"
