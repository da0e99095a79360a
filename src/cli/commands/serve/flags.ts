import { dns1035LabelProblems, namespacedNameIn } from '../../../kubernetes/index.ts';
import { type Flags, type FlagValues, integerFlag, listFlag, switchFlag, textFlag } from '../../framework/flags.ts';
import { clusterFlags } from '../cluster-flags.ts';
import { featureGatesFlag } from '../feature-gates-flag.ts';
import { policyFlags } from '../policy-flags.ts';
import { serverFlags } from '../server-flags.ts';

/** Seconds that even a slow cluster needs to remove a terminating pod from all endpoints. */
const shutdownDelayInPod = 10;

/**
 * Seconds for answers in progress after that: three times the timeout of the webhooks in the manifests. With the delay,
 * it is less than the pods' terminationGracePeriodSeconds.
 */
export const answersSeconds = 15;

/** Seconds for which connections are accepted after SIGTERM, which may arrive in a pod before endpoints are updated. */
export const shutdownDelayOf = (flags: ServeFlags, env: NodeJS.ProcessEnv): number =>
  flags['shutdown-delay'] ?? (env.KUBERNETES_SERVICE_HOST === undefined ? 0 : shutdownDelayInPod);

export const serveFlags = {
  ...serverFlags,
  'cert-secret': textFlag(
    'NAMESPACE/NAME',
    'Secret with tls.crt and tls.key, watched through the API server, instead of a folder',
    { problemsOf: (text) => (namespacedNameIn(text) === undefined ? ['must be the NAMESPACE/NAME of a Secret'] : []) },
  ),
  ...clusterFlags,
  'client-allowed-name': listFlag(
    'NAME',
    'accept only client certificates with this common name or DNS name; may be repeated',
  ),
  'feature-gates': featureGatesFlag,
  ...policyFlags,
  'cluster-facts': switchFlag('watch the cluster for the rules that need facts about it'),
  'repair-ca-bundle': textFlag(
    'NAME',
    'fill in an empty caBundle of the webhook configurations NAME, for the Service NAME, with ca.crt of --cert-dir or --cert-secret',
    { problemsOf: dns1035LabelProblems },
  ),
  impact: switchFlag('warn of Machines that a change of a Cluster or a class will replace; needs --cluster-facts'),
  'impact-call-extensions': switchFlag('call external patch extensions when estimating impact'),
  'shutdown-delay': integerFlag(
    'SECONDS',
    0,
    3600,
    'how long connections are still accepted after SIGTERM, while endpoints catch up',
    { defaultText: `${shutdownDelayInPod} in a pod, otherwise 0` },
  ),
} satisfies Flags;

export type ServeFlags = FlagValues<typeof serveFlags>;
