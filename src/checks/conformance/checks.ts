// Every check, in the order in which they run and are reported. A new check is a file in checks/ and its line here.
import type { Check } from './check.ts';
import { check as answersCalls } from './checks/answers-calls.ts';
import { check as callerHangsUp } from './checks/caller-hangs-up.ts';
import { check as clusterWithoutType } from './checks/cluster-without-type.ts';
import { check as concurrentCalls } from './checks/concurrent-calls.ts';
import { check as contentType } from './checks/content-type.ts';
import { check as discoveryAdvice } from './checks/discovery-advice.ts';
import { check as discoveryComplete } from './checks/discovery-complete.ts';
import { check as discoveryStable } from './checks/discovery-stable.ts';
import { check as discoveryValid } from './checks/discovery-valid.ts';
import { check as discreetMessages } from './checks/discreet-messages.ts';
import { check as fastAnswers } from './checks/fast-answers.ts';
import { check as http2 } from './checks/http2.ts';
import { check as knownFields } from './checks/known-fields.ts';
import { check as knownStatus } from './checks/known-status.ts';
import { check as largeRequest } from './checks/large-request.ts';
import { check as malformedBodies } from './checks/malformed-bodies.ts';
import { check as noHandler } from './checks/no-handler.ts';
import { check as olderCluster } from './checks/older-cluster.ts';
import { check as patchesApply } from './checks/patches-apply.ts';
import { check as patchesDeterministic } from './checks/patches-deterministic.ts';
import { check as patchesKnownItems } from './checks/patches-known-items.ts';
import { check as patchesNotIdle } from './checks/patches-not-idle.ts';
import { check as patchesReadable } from './checks/patches-readable.ts';
import { check as patchesTaken } from './checks/patches-taken.ts';
import { check as pathCase } from './checks/path-case.ts';
import { check as plansValid } from './checks/plans-valid.ts';
import { check as repeatable } from './checks/repeatable.ts';
import { check as saneRetries } from './checks/sane-retries.ts';
import { check as stableMessages } from './checks/stable-messages.ts';
import { check as success } from './checks/success.ts';
import { check as timeoutsKept } from './checks/timeouts-kept.ts';
import { check as tlsExpiry } from './checks/tls-expiry.ts';
import { check as tlsNames } from './checks/tls-names.ts';
import { check as tlsTrusted } from './checks/tls-trusted.ts';
import { check as tlsVersions } from './checks/tls-versions.ts';
import { check as unknownFields } from './checks/unknown-fields.ts';
import { check as variablesValid } from './checks/variables-valid.ts';

/** All checks. Those of the same group are adjacent; checks that may harm a weak server come last. */
export const checks: readonly Check[] = [
  tlsTrusted,
  tlsNames,
  tlsExpiry,
  tlsVersions,
  discoveryValid,
  discoveryComplete,
  discoveryStable,
  discoveryAdvice,
  answersCalls,
  timeoutsKept,
  fastAnswers,
  contentType,
  pathCase,
  noHandler,
  http2,
  unknownFields,
  clusterWithoutType,
  olderCluster,
  largeRequest,
  malformedBodies,
  callerHangsUp,
  knownStatus,
  success,
  knownFields,
  repeatable,
  saneRetries,
  stableMessages,
  discreetMessages,
  patchesReadable,
  patchesKnownItems,
  patchesApply,
  patchesDeterministic,
  patchesNotIdle,
  patchesTaken,
  variablesValid,
  plansValid,
  concurrentCalls,
];
