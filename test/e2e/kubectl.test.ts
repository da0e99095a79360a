import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Environment, startEnvironment } from '../cli/commands/sandbox/environment.ts';
import { needs } from '../support/needs.ts';
import { type Shell, startShell } from '../support/shell.ts';

describe('kubectl', needs('kubectl'), () => {
  let environment: Environment;
  let shell: Shell;
  beforeAll(async () => {
    environment = await startEnvironment();
    shell = startShell({
      ...process.env,
      KUBECONFIG: environment.kubeconfigFile,
      KUBECTL_EXTERNAL_DIFF: 'diff -u',
      KUBE_EDITOR: "sed -i 's/spec:/spec:\\n  settings: {edited: by-hand}/'",
    });
  });
  afterAll(async () => {
    await shell?.stop();
    await environment?.stop();
  });

  async function kubectl(args: string[], stdin?: object): Promise<{ code: number; output: string }> {
    const { code, stdout, stderr } = await shell.run('kubectl', args, stdin && JSON.stringify(stdin));
    return { code, output: `${stdout}${stderr}` };
  }

  function config(url: string, version = 'v1beta2', name = 'one') {
    return {
      apiVersion: `runtime.cluster.x-k8s.io/${version}`,
      kind: 'ExtensionConfig',
      metadata: { name },
      spec: { clientConfig: { url } },
    };
  }

  function labelled(name: string) {
    const metadata = { name: `extensionconfig-e2e-${name}`, labels: { 'extensionconfig-e2e': 'prune' } };
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  }

  const first = 'https://first.example.com/';
  const second = 'https://second.example.com/';
  const condition = {
    type: 'Discovered',
    status: 'True',
    reason: 'Discovered',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };

  // One sequence: each step starts from the result of the previous one.
  const steps: [string, string[], object | undefined, number, RegExp | RegExp[]][] = [
    ['apply creates', ['apply', '-f', '-'], config(first), 0, /one created/],
    [
      'apply of the same, a bad object, an unknown kind, and the old version',
      ['apply', '-f', '-'],
      {
        apiVersion: 'v1',
        kind: 'List',
        items: [
          config(first),
          config('http://x.example.com'),
          { apiVersion: 'example.com/v1', kind: 'Nothing', metadata: { name: 'one' } },
          config(first, 'v1alpha1', 'old'),
        ],
      },
      1,
      [
        /one unchanged/,
        /"one" is invalid: .*spec\.clientConfig\.url/s,
        /no matches for kind "Nothing" in version "example\.com\/v1"/,
        /Warning: .*v1alpha1 ExtensionConfig is deprecated/,
        /old created/,
      ],
    ],
    ['apply of an unknown field', ['apply', '-f', '-'], { ...config(first), more: 1 }, 1, /unknown field "more"/],
    // kubectl checks a List by itself, against OpenAPI v2, and then sends none of its objects.
    [
      'apply of a List with an unknown field',
      ['apply', '-f', '-'],
      { apiVersion: 'v1', kind: 'List', items: [config(second), { ...config(first), more: 1 }] },
      1,
      [/error validating data: .*unknown field "more"/, /^(?!.*configured)/s],
    ],
    ['diff', ['diff', '-f', '-'], config(second), 1, /second\.example\.com/],
    ['apply updates', ['apply', '-f', '-'], config(second), 0, /one configured/],
    ['label', ['label', 'ext', 'one', 'team=a'], undefined, 0, /labeled/],
    [
      'get in columns',
      ['get', 'ext', '-l', 'team in (a,b)', '-o', 'custom-columns=N:.metadata.name,T:.metadata.labels.team'],
      undefined,
      0,
      /^N +T\none +a\n$/,
    ],
    ['edit', ['edit', 'ext', 'one'], undefined, 0, /one edited/],
    [
      'get what was edited',
      ['get', 'ext', 'one', '-o', 'yaml'],
      undefined,
      0,
      [/^ {2}namespaceSelector: \{\}$/m, /^ {4}edited: by-hand$/m],
    ],
    ['watch', ['get', 'ext', '-w', '--request-timeout=3s'], undefined, 0, /one .*\n.*old|old .*\n.*one/],
    ['describe', ['describe', 'ext', 'one'], undefined, 0, /Client Config:[\s\S]*Events: +<none>/],
    [
      'merge patch',
      ['patch', 'ext', 'one', '--type=merge', '-p', '{"spec":{"settings":{"a":"b"}}}'],
      undefined,
      0,
      /patched/,
    ],
    [
      'status patch',
      [
        'patch',
        'ext',
        'one',
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ status: { conditions: [condition] } }),
      ],
      undefined,
      0,
      /patched/,
    ],
    ['wait', ['wait', 'ext/one', '--for=condition=Discovered', '--timeout=20s'], undefined, 0, /condition met/],
    ['explain', ['explain', 'extensionconfig.spec.clientConfig.url'], undefined, 0, /FIELD: url <string>/],
    [
      'api-resources',
      ['api-resources', '--api-group=runtime.cluster.x-k8s.io'],
      undefined,
      0,
      /extensionconfigs +ext /,
    ],
    ['replace', ['replace', '-f', '-'], config(first), 0, /replaced/],
    // kubectl sends objects that it builds itself as protobuf.
    [
      'create from a generator',
      ['create', 'configmap', 'extensionconfig-e2e', '--from-literal=a=b'],
      undefined,
      0,
      /extensionconfig-e2e created/,
    ],

    ['apply with a label', ['apply', '-f', '-'], labelled('old'), 0, /extensionconfig-e2e-old created/],
    [
      'apply --prune deletes what is no longer applied',
      ['apply', '--prune', '-l', 'extensionconfig-e2e=prune', '-f', '-'],
      labelled('new'),
      0,
      [/extensionconfig-e2e-new created/, /extensionconfig-e2e-old pruned/],
    ],
    [
      'delete',
      ['delete', 'ext/one', 'ext/old', 'configmap/extensionconfig-e2e', 'configmap/extensionconfig-e2e-new'],
      undefined,
      0,
      [/"one" deleted/, /"extensionconfig-e2e-new" deleted/],
    ],
    ['get what is gone', ['get', 'ext', 'one'], undefined, 1, /NotFound/],
  ];

  // One test, since no step can pass without the previous ones.
  test('everyday commands work', { timeout: 120_000 }, async () => {
    for (const [step, args, stdin, code, output] of steps) {
      const answer = await kubectl(args, stdin);
      for (const part of [output].flat()) {
        expect(answer.output, step).toMatch(part);
      }
      expect(answer.code, step).toBe(code);
    }
  });
});
