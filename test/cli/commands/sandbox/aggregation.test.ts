import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { resolveFlag, resolveOf } from '../../../../src/cli/commands/resolve-flag.ts';
import { type RunningSandbox, startSandboxWithWebhook } from '../../../../src/cli/commands/sandbox/start.ts';
import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import { apiClient } from '../../../kubernetes/client/api-client.ts';
import {
  type AggregatedServer,
  apiService,
  json,
  startAggregatedServer,
} from '../../../sandbox/aggregation/aggregated-server.ts';
import { needs } from '../../../support/needs.ts';
import { type Shell, startShell } from '../../../support/shell.ts';
import { runProgram } from '../io.ts';

const group = 'old.example.com';
const recorded = readFileSync(new URL('../../../support/fixtures/openapi/aggregated-old-v2.json', import.meta.url));

describe('an aggregated API server behind --resolve, with kubectl', { ...needs('kubectl'), timeout: 60_000 }, () => {
  let sandbox: RunningSandbox;
  let server: AggregatedServer;
  let shell: Shell;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aggregation-e2e-'));
    let port = 0;
    const resolve = (host: string) => resolveOf(resolveFlag.parse(`lab/older:8443=127.0.0.1:${port || 1}`))(host);
    const quiet = pino({ level: 'silent' });
    sandbox = await startSandboxWithWebhook({ port: 0, resolve }, quiet, AbortSignal.timeout(25_000));
    const authentication = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
    const { data } = await apiClient(sandbox.config)<V1ConfigMap>('GET', authentication);
    server = await startAggregatedServer(data?.['requestheader-client-ca-file'] ?? '', ({ url }, response) => {
      const resources = [
        { name: 'gadgets', singularName: 'gadget', namespaced: false, kind: 'Gadget', verbs: ['get', 'list'] },
      ];
      if (url === `/apis/${group}/v1`) {
        return json(response, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources });
      }
      if (url === '/openapi/v2') {
        return json(response, JSON.parse(recorded.toString()) as JsonObject);
      }
      const items = [{ kind: 'Gadget', apiVersion: `${group}/v1`, metadata: { name: 'first' } }];
      return url.startsWith(`/apis/${group}/v1/gadgets`)
        ? json(response, { kind: 'GadgetList', apiVersion: `${group}/v1`, metadata: {}, items })
        : false;
    });
    port = server.port;
    shell = startShell({ ...process.env, KUBECONFIG: sandbox.kubeconfigFile });
  });

  afterAll(async () => {
    await shell?.stop();
    await sandbox?.stop();
    server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function kubectl(args: readonly string[], input?: object): Promise<string> {
    const cache = `--cache-dir=${join(folder, 'cache')}`;
    const { code, stdout, stderr } = await shell.run('kubectl', [cache, ...args], JSON.stringify(input ?? {}));
    expect(code, stderr).toBe(0);
    return stdout;
  }

  test('is applied, becomes available, is read, merged and deleted', async () => {
    const service = { namespace: 'lab', name: 'older', port: 8443 };
    const applied = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      ...apiService(group, 'older', { insecureSkipTLSVerify: true, service }),
    };
    expect(await kubectl(['apply', '-f', '-'], applied)).toBe(
      `apiservice.apiregistration.k8s.io/v1.${group} created\n`,
    );
    await kubectl(['wait', '--for=condition=Available', 'apiservice', `v1.${group}`, '--timeout=20s']);
    expect(await kubectl(['get', 'apiservices'])).toMatch(new RegExp(`^v1\\.${group} +lab/older +True +`, 'm'));
    expect(await kubectl(['get', 'gadgets', '-o', 'name'])).toBe(`gadget.${group}/first\n`);
    expect(await kubectl(['api-resources', '--api-group', group])).toMatch(
      /^gadgets +old\.example\.com\/v1 +false +Gadget/m,
    );
    const merged = await runProgram(['openapi', 'merge', '--kubeconfig', sandbox.kubeconfigFile], {
      env: { XDG_CACHE_HOME: folder },
    });
    expect([merged.code, merged.stderr]).toEqual([0, expect.not.stringContaining('dangling')]);
    const { paths, components } = parse(merged.stdout, { uniqueKeys: false }) as {
      paths: object;
      components: { schemas: object };
    };
    expect(Object.keys(paths)).toContain(`/apis/${group}/v1/gadgets`);
    expect(Object.keys(components.schemas)).toContain('com.example.old.v1.Gadget');
    await kubectl(['delete', 'apiservice', `v1.${group}`]);
    expect(await kubectl(['get', '--raw', '/openapi/v3'])).not.toContain(group);
  });
});
