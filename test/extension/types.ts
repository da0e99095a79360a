import { createExtensionServer, handler } from '../../src/extension/index.ts';
import { defineHook } from '../../src/hooks/index.ts';
import { fixedCertificate, selfSignedPair } from '../../src/server/index.ts';

// `npm run check` is what tests this file: each wrong use below must not compile.

interface PowerOffRequest {
  apiVersion?: string;
  kind?: string;
  host: string;
}
interface PowerOffResponse {
  status: 'Success' | 'Failure';
  message?: string;
  watts: number;
}
const text = { type: 'string' } as const;
const powerOff = defineHook<PowerOffRequest, PowerOffResponse>({
  group: 'hooks.lab.example.com',
  version: 'v1beta1',
  name: 'BeforePowerOff',
  summary: 'A machine goes off.',
  purpose: 'Called before a machine is switched off.',
  introduced: '1.14',
  request: { type: 'object', required: ['host'], properties: { apiVersion: text, kind: text, host: text } },
  response: {
    type: 'object',
    required: ['status', 'watts'],
    properties: { status: text, message: text, watts: { type: 'integer' } },
  },
});

export const accepted = [
  handler('BeforeClusterUpgrade', {
    name: 'wait',
    timeoutSeconds: 25,
    failurePolicy: 'Ignore',
    handle: ({ cluster, toKubernetesVersion }, { answer, settings }) => {
      const names: string[] = [cluster.metadata?.name ?? '', toKubernetesVersion, settings.tier ?? ''];
      return names.length > 0 ? answer.retryAfterSeconds(30, 'backups run') : answer.done();
    },
  }),
  handler('GenerateUpgradePlan', {
    name: 'plan',
    handle: async ({ toKubernetesVersion }, { answer }) =>
      answer.done({ controlPlaneUpgrades: [{ version: toKubernetesVersion }], message: 'one step' }),
  }),
  handler(powerOff, {
    name: 'off',
    handle: ({ host }, { answer }) => (host === '' ? answer.failure('no host') : answer.done({ watts: 1 })),
  }),
];

/** Never called: what must not compile. */
export function refused() {
  // @ts-expect-error: there is no such hook.
  handler('BeforeClusterUpgarde', { name: 'a', handle: () => undefined });
  // @ts-expect-error: the server answers Discovery itself.
  handler('Discovery', { name: 'a', handle: () => undefined });
  // @ts-expect-error: no such field in the request.
  handler('BeforeClusterUpgrade', { name: 'a', handle: ({ machine }, { answer }) => answer.done(machine) });
  // @ts-expect-error: no such field in the response.
  handler('GenerateUpgradePlan', { name: 'a', handle: (_, { answer }) => answer.done({ upgrades: [] }) });
  // @ts-expect-error: a field of a wrong type.
  handler('GenerateUpgradePlan', { name: 'a', handle: (_, { answer }) => answer.done({ workersUpgrades: 1 }) });
  // @ts-expect-error: no answer.
  handler('BeforeClusterUpgrade', { name: 'a', handle: () => {} });
  // @ts-expect-error: a response that is written by hand may lack its status.
  handler('BeforeClusterUpgrade', { name: 'a', handle: () => ({ status: 'Success', retryAfterSeconds: 0 }) });
  // @ts-expect-error: the hook cannot block.
  handler('GeneratePatches', { name: 'a', handle: (_, { answer }) => answer.retryAfterSeconds(5, 'not yet') });
  // @ts-expect-error: what is awaited has to be said.
  handler('BeforeClusterUpgrade', { name: 'a', handle: (_, { answer }) => answer.retryAfterSeconds(5) });
  // @ts-expect-error: a name of capital letters.
  handler('BeforeClusterUpgrade', { name: 'Wait', handle: (_, { answer }) => answer.done() });
  // @ts-expect-error: a name with a dot.
  handler('BeforeClusterUpgrade', { name: 'wait.lab', handle: (_, { answer }) => answer.done() });
  // @ts-expect-error: a timeout over 30 s.
  handler('BeforeClusterUpgrade', { name: 'a', timeoutSeconds: 60, handle: (_, { answer }) => answer.done() });
  // @ts-expect-error: a timeout of nothing.
  handler('BeforeClusterUpgrade', { name: 'a', timeoutSeconds: 0, handle: (_, { answer }) => answer.done() });
  // @ts-expect-error: no such policy.
  handler('BeforeClusterUpgrade', { name: 'a', failurePolicy: 'Retry', handle: (_, { answer }) => answer.done() });
  // @ts-expect-error: a provider's hook requires its field.
  handler(powerOff, { name: 'a', handle: (_, { answer }) => answer.done() });
  // @ts-expect-error: a provider's hook that cannot block.
  handler(powerOff, { name: 'a', handle: (_, { answer }) => answer.retryAfterSeconds(5, 'not yet') });
  // @ts-expect-error: what this program itself follows certificates with is not exported.
  createExtensionServer({ handlers: [], certificates: fixedCertificate(selfSignedPair(new Date())) });
}
