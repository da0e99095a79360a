import { expect, test } from 'vitest';
import { examineInstallation } from '../../../src/checks/doctor/index.ts';
import { StatusError } from '../../../src/kubernetes/client/index.ts';

// What API servers of Kubernetes 1.36 said in these situations.
test.for([
  ['x509: certificate signed by unknown authority', /^the caBundle does not fit: run certs inject/],
  ['x509: certificate has expired or is not yet valid: current time …', /^run the rotation Job .*clocks/],
  ['x509: certificate is valid for a.example, not extensionconfig-webhook.x.svc', /^another server answers: /],
  ['no endpoints available for service "extensionconfig-webhook"', /^no pod is ready: /],
  ['dial tcp 10.0.1.7:9443: connect: connection refused', /^no pod is ready: /],
  ['context deadline exceeded', /^look at the NetworkPolicy and at the firewall /],
] as const)('a webhook that cannot be called, %s', async ([cause, remedy]) => {
  const request = async (method: string) => {
    throw method === 'POST'
      ? new StatusError(
          500,
          `Internal error occurred: failed calling webhook "mutate": failed to call webhook: ${cause}`,
        )
      : new StatusError(404, 'not found');
  };
  const installation = {
    cluster: { request, watch: request },
    namespace: 'x',
    service: 'extensionconfig-webhook',
    secret: 'tls',
    caSecret: 'ca',
    clusterApiNamespace: 'capi-system',
    now: new Date(),
  } as unknown as Parameters<typeof examineInstallation>[0];
  const ticks = [];
  for await (const tick of examineInstallation(installation)) {
    ticks.push(tick);
  }
  expect(ticks.find(({ check }) => check === 'reachable')).toMatchObject({
    result: 'failed',
    message: expect.stringContaining(cause),
    remedy: expect.stringMatching(remedy),
  });
});
