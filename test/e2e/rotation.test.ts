import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Secret, V1ValidatingWebhookConfiguration } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../cli/commands/io.ts';
import {
  type Environment,
  externalNameProblem,
  retryingClient,
  startEnvironment,
} from '../cli/commands/sandbox/environment.ts';
import type { ApiClient } from '../kubernetes/client/api-client.ts';
import { needs } from '../support/needs.ts';

const isElsewhere = (process.env.E2E_KUBECONFIG ?? '') !== '';
const problem = isElsewhere ? await externalNameProblem() : undefined;
if (problem !== undefined) {
  process.stderr.write(`test/e2e: ${problem}, and an API server reaches no other: the rotation is skipped\n`);
}

const namespace = 'extensionconfig-webhook-system';
const configurationName = 'extensionconfig-webhook';
const group = 'runtime.cluster.x-k8s.io';
const collection = `/apis/${group}/v1beta2/extensionconfigs`;
let environment: Environment;
let send: ApiClient;

beforeAll(async () => {
  if (problem === undefined) {
    environment = await startEnvironment('service');
    send = retryingClient(environment.config);
  }
});
afterAll(() => environment?.stop());

/** Creates and deletes objects, one after the other, until told to stop; every one passes both webhooks. */
function applyWithoutEnd(worker: number) {
  const failures: unknown[] = [];
  let count = 0;
  let isStopped = false;
  const ended = (async () => {
    while (!isStopped) {
      const name = `w${worker}-${count}`;
      const body = {
        apiVersion: `${group}/v1beta2`,
        kind: 'ExtensionConfig',
        metadata: { name },
        spec: { clientConfig: { url: 'https://extension.example.com/' } },
      };
      try {
        const created = await send('POST', collection, body);
        expect(created).toMatchObject({ spec: { namespaceSelector: {} } });
        // Read in the other version: through the conversion webhook.
        await send('GET', `/apis/${group}/v1alpha1/extensionconfigs/${name}`);
        await send('DELETE', `${collection}/${name}`);
      } catch (error) {
        failures.push(error);
      }
      count++;
      // Applies continuously, but not as fast as possible: other tests run on the machine.
      await sleep(150);
    }
  })();
  return {
    get count() {
      return count;
    },
    async stop() {
      isStopped = true;
      await ended;
      return failures;
    },
  };
}

async function trusted() {
  const secret = await send<V1Secret>('GET', `/api/v1/namespaces/${namespace}/secrets/extensionconfig-webhook-tls`);
  const read = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString();
  const configuration = await send<V1ValidatingWebhookConfiguration>(
    'GET',
    `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${configurationName}`,
  );
  return {
    serving: new X509Certificate(read('tls.crt')).serialNumber,
    ca: new X509Certificate(read('ca.crt')).fingerprint256,
    isInjected: configuration.webhooks?.[0]?.clientConfig.caBundle === Buffer.from(read('ca.crt')).toString('base64'),
  };
}

test(
  'serving certificate and CA are rotated while applies go on, without a failed one',
  needs('port 443', problem === undefined),
  async () => {
    const certs = (...args: string[]) =>
      runProgram([
        ...['certs', ...args, '--kubeconfig', environment.kubeconfigFile, '--namespace', namespace],
        ...[
          '--target',
          `MutatingWebhookConfiguration/${configurationName}`,
          '--target',
          `ValidatingWebhookConfiguration/${configurationName}`,
        ],
        ...['--target', 'CustomResourceDefinition/extensionconfigs.runtime.cluster.x-k8s.io'],
      ]);
    const before = await trusted();
    expect(before.isInjected).toBe(true);
    const workers = [0, 1].map(applyWithoutEnd);

    expect(await certs('rotate', '--force', 'serving')).toMatchObject({ code: 0 });
    const renewed = await trusted();
    expect(renewed.serving).not.toBe(before.serving);
    expect(renewed.ca).toBe(before.ca);

    expect(
      await certs('rotate', '--force', 'ca', '--wait', '--propagation-delay', '1s', '--overlap', '1s'),
    ).toMatchObject({
      code: 0,
    });
    const rotated = await trusted();
    expect(rotated.serving).not.toBe(renewed.serving);
    expect(rotated.ca).not.toBe(before.ca);
    expect(rotated.isInjected).toBe(true);
    expect(await certs('status')).toMatchObject({ code: 0, stdout: expect.stringContaining('steady') });
    // Nothing is left to do: neither of these writes anything.
    expect(await certs('inject')).toMatchObject({ code: 0 });
    expect(await certs('bootstrap')).toMatchObject({ code: 0 });
    expect(await trusted()).toEqual(rotated);

    const failures = await Promise.all(workers.map((worker) => worker.stop()));
    expect(failures.flat()).toEqual([]);
    expect(Math.min(...workers.map(({ count }) => count))).toBeGreaterThan(5);
  },
);
