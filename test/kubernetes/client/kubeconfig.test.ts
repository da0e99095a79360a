import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KubeConfigError, loadKubeConfig } from '../../../src/kubernetes/client/index.ts';

const server = 'https://127.0.0.1:6443';

/** A kubeconfig with clusters of these names, each on a port of its own; the first is the current one. */
function kubeconfigOf(names: readonly string[], firstPort = 6443, currentContext = names[0]): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': currentContext,
    clusters: names.map((name, index) => ({ name, cluster: { server: `https://127.0.0.1:${firstPort + index}` } })),
    users: names.map((name) => ({ name, user: {} })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
  });
}

/** A folder with files, removed after the test. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, '.kube'));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The error for the kubeconfig in a folder, whose context has this name, and which has these. */
const unusable = (folder: string, context: string, known = 'here') =>
  new KubeConfigError(
    `the kubeconfig ${join(folder, 'config')} cannot be used: its context ${JSON.stringify(context)} (of ${known}) must have a user, whose exec has a command, and a cluster with a server such as https://10.0.0.1:6443 (for http:// also insecure-skip-tls-verify) and no proxy-url but a URL: use --context, or see "kubectl config view --minify"`,
  );

const inPod = existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token');

test.skipIf(inPod).each([{}, { KUBECONFIG: '' }])(
  'no kubeconfig anywhere is said, with what to do: %j',
  async (env) => {
    await expect(loadKubeConfig({}, { ...env, HOME: folderWith({}) })).rejects.toThrow(
      new KubeConfigError(
        'KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod: use --kubeconfig FILE',
      ),
    );
  },
);

test.each([{}, { KUBECONFIG: '' }])('uses the file in the home folder if the variable is not set: %j', async (env) => {
  const HOME = folderWith({ '.kube/config': kubeconfigOf(['here']) });
  expect((await loadKubeConfig({}, { ...env, HOME })).getCurrentCluster()?.server).toBe(server);
});

test('checks the file in the home folder before reading it, also if the variable is empty', async () => {
  const HOME = folderWith({ '.kube/config': ' '.repeat(9 * 1024 * 1024) });
  await expect(loadKubeConfig({}, { KUBECONFIG: '', HOME })).rejects.toThrow(
    /^the kubeconfig .*config is larger than 8 MiB/,
  );
});

test('skips missing files in a list; the first file wins for each name and for the current context', async () => {
  const folder = folderWith({
    first: kubeconfigOf(['one', 'two'], 6443, ''),
    second: kubeconfigOf(['two', 'three'], 7443),
    third: kubeconfigOf(['three'], 8443),
  });
  const KUBECONFIG = ['missing', 'first', '', 'second', 'third']
    .map((name) => (name === '' ? '' : join(folder, name)))
    .join(delimiter);
  const config = await loadKubeConfig({}, { KUBECONFIG });
  expect(config.getContexts().map(({ name }) => name)).toEqual(['one', 'two', 'three']);
  expect(config.getCurrentContext()).toBe('two');
  expect(config.getCurrentCluster()?.server).toBe('https://127.0.0.1:6444');
  expect((await loadKubeConfig({ context: 'three' }, { KUBECONFIG })).getCurrentCluster()?.server).toBe(
    'https://127.0.0.1:7444',
  );
});

test('names files in the variable that do not exist, and does not fall back to others', async () => {
  const folder = folderWith({ '.kube/config': kubeconfigOf(['home']) });
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  const load = (KUBECONFIG: string) => loadKubeConfig({}, { KUBECONFIG, HOME: folder });
  await expect(load(a)).rejects.toThrow(new KubeConfigError(`the kubeconfig ${a} does not exist`));
  await expect(load([a, b].join(delimiter))).rejects.toThrow(new KubeConfigError(`the kubeconfig ${a} does not exist`));
});

test('does not quote the contents of a file that is not a kubeconfig', async () => {
  const folder = folderWith({ broken: 'users:\n- name: x\n  user: {token: s3cr3t' });
  await expect(loadKubeConfig({ kubeconfig: join(folder, 'broken') })).rejects.toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('s3cr3t') }),
  );
});

test('reports an unreadable file in one line with its path, without control characters', async () => {
  const folder = folderWith({ broken: '\u001b[2J: [' });
  const file = join(folder, 'broken');
  const load = () => loadKubeConfig({ kubeconfig: file });
  await expect(load()).rejects.toThrow(KubeConfigError);
  await expect(load()).rejects.toThrow(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    /^the kubeconfig .+\/broken cannot be read: "kubectl config view [^\u0000-\u001f]+$/,
  );
});

test('a file given explicitly takes precedence over the environment, and must exist', async () => {
  const folder = folderWith({ named: kubeconfigOf(['here']), other: kubeconfigOf(['other'], 7443) });
  const env = { KUBECONFIG: join(folder, 'other'), HOME: folder };
  const config = await loadKubeConfig({ kubeconfig: join(folder, 'named') }, env);
  expect(config.getCurrentCluster()?.server).toBe(server);
  await expect(loadKubeConfig({ kubeconfig: join(folder, 'none') }, env)).rejects.toThrow(
    new KubeConfigError(`the kubeconfig ${folder}/none does not exist`),
  );
  await expect(loadKubeConfig({ kubeconfig: folder }, env)).rejects.toThrow(
    new KubeConfigError(`the kubeconfig ${folder} is a folder, not a regular file`),
  );
});

test('names a context that does not exist, and the existing ones', async () => {
  const folder = folderWith({ config: kubeconfigOf(['here', 'there']) });
  const load = (context: string) => loadKubeConfig({ kubeconfig: join(folder, 'config'), context });
  expect((await load('there')).getCurrentContext()).toBe('there');
  await expect(load('else\u001bwhere')).rejects.toThrow(unusable(folder, 'else\u001bwhere', 'here, there'));
});

const here = kubeconfigOf(['here']);

test.each<[string, string, string?]>([
  ['current context does not exist', kubeconfigOf(['here'], 6443, 'gone'), 'gone'],
  ['current context is not set', kubeconfigOf(['here'], 6443, ''), ''],
  ['context has a cluster that does not exist', here.replace('"cluster":"here"', '"cluster":"gone"')],
  ['server is no URL', here.replace(server, 'http//:bad url')],
  ['server has another scheme', here.replace(server, 'localhost:6443')],
  ['server has no TLS', here.replace('https://', 'http://')],
  ['user does not exist', here.replace('"user":"here"', '"user":"gone"')],
  ['context has no user', here.replace(',"user":"here"', '')],
  ['proxy-url is no URL', here.replace('"server"', '"proxy-url":"a:s3cr3t@proxy","server"')],
  ['user has a provider without config', here.replace('"user":{}', '"user":{"auth-provider":{"name":"oidc"}}')],
  ['user has a plugin without a command', here.replace('"user":{}', '"user":{"exec":{}}')],
])('a kubeconfig whose %s is refused before a request', async (_, config, context = 'here') => {
  const folder = folderWith({ config });
  await expect(loadKubeConfig({ kubeconfig: join(folder, 'config') })).rejects.toThrow(unusable(folder, context));
});

test('merges files that each contain only a part of a kubeconfig', async () => {
  const whole = JSON.parse(kubeconfigOf(['here'])) as Record<string, unknown>;
  const { clusters, users, contexts, ...head } = whole;
  const folder = folderWith({
    clusters: JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters }),
    rest: JSON.stringify({ ...head, users, contexts }),
  });
  const KUBECONFIG = [join(folder, 'clusters'), join(folder, 'rest')].join(delimiter);
  const config = await loadKubeConfig({}, { KUBECONFIG });
  expect([config.getCurrentCluster()?.server, config.getCurrentUser()?.name]).toEqual([server, 'here']);
  await expect(loadKubeConfig({}, { KUBECONFIG: join(folder, 'clusters') })).rejects.toThrow(
    /clusters cannot be used: its context "" \(of none\) must have a user/,
  );
});

test('accepts a server without TLS', async () => {
  const config = kubeconfigOf(['here']).replace('https://', 'http://');
  const load = (text: string) => loadKubeConfig({ kubeconfig: join(folderWith({ config: text }), 'config') });
  const meant = config.replace('"server"', '"insecure-skip-tls-verify":true,"server"');
  expect((await load(meant)).getCurrentCluster()?.server).toBe('http://127.0.0.1:6443');
  const proxied = config.replace('"server"', '"proxy-url":"http://127.0.0.1:3128","server"');
  expect((await load(proxied)).getCurrentCluster()?.server).toBe('http://127.0.0.1:6443');
});

test('entries that are not used may be incomplete, as kubectl config set-context leaves them', async () => {
  const whole = JSON.parse(kubeconfigOf(['here'])) as Record<string, unknown[]>;
  whole.contexts!.push({ name: 'new', context: { namespace: 'a' } }, null);
  whole.clusters!.push({ name: 'new', cluster: {} });
  whole.users!.push({ user: { token: 'x' } });
  const kubeconfig = join(folderWith({ config: JSON.stringify(whole) }), 'config');
  expect((await loadKubeConfig({ kubeconfig })).getCurrentContext()).toBe('here');
  await expect(loadKubeConfig({ kubeconfig, context: 'new' })).rejects.toThrow(
    'its context "new" (of here) must have a user',
  );
});

test('a server without TLS needs no user', async () => {
  const open = here.replace(`"server":"${server}"`, '"server":"http://127.0.0.1:8001","insecure-skip-tls-verify":true');
  const config = open.replace(',"user":"here"', '');
  const kubeconfig = join(folderWith({ config }), 'config');
  expect((await loadKubeConfig({ kubeconfig })).getCurrentCluster()?.server).toBe('http://127.0.0.1:8001');
});

test('resolves file names relative to the kubeconfig', async () => {
  const whole = JSON.parse(kubeconfigOf(['here'])) as { clusters: { cluster: object }[]; users: { user: object }[] };
  Object.assign(whole.clusters[0]!.cluster, { 'certificate-authority': 'ca.crt' });
  const pem = '-----BEGIN CERTIFICATE-----';
  const key = join(folderWith({ 'tls.key': pem }), 'tls.key');
  Object.assign(whole.users[0]!.user, { 'client-certificate': '.kube/tls.crt', 'client-key': key });
  const folder = folderWith({ config: JSON.stringify(whole), 'ca.crt': pem, '.kube/tls.crt': pem });
  for (const config of [
    await loadKubeConfig({ kubeconfig: join(folder, 'config') }),
    await loadKubeConfig({}, { KUBECONFIG: join(folder, 'config') }),
  ]) {
    expect(config.getCurrentCluster()?.caFile).toBe(join(folder, 'ca.crt'));
    const { certFile, keyFile } = config.getCurrentUser() ?? {};
    expect([certFile, keyFile]).toEqual([join(folder, '.kube/tls.crt'), key]);
  }
});
