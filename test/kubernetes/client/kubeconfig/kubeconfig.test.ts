import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import { KubeConfigError } from '../../../../src/kubernetes/client/kubeconfig/kubeconfig.ts';

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
  await expect(load(a)).rejects.toThrow(new KubeConfigError(`KUBECONFIG: ${a} does not exist`));
  await expect(load([a, b].join(delimiter))).rejects.toThrow(
    new KubeConfigError(`KUBECONFIG: ${a} and ${b} do not exist`),
  );
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
  await expect(load()).rejects.toThrow(/^the kubeconfig .+\/broken cannot be read: [^\u0000-\u001f]+$/);
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
  await expect(load('else\u001bwhere')).rejects.toThrow(
    new KubeConfigError('context "else\\u001bwhere" with a cluster is not in the kubeconfig (it has here, there)'),
  );
});

test.each([
  [
    'current context does not exist',
    kubeconfigOf(['here', 'there'], 6443, 'gone'),
    'the kubeconfig has current-context "gone", which is not among its contexts with a cluster (it has here, there): use --context',
  ],
  [
    'current context is not set',
    kubeconfigOf(['here'], 6443, ''),
    'the kubeconfig has no current-context (it has here): use --context',
  ],
  [
    'context has a cluster that does not exist',
    kubeconfigOf(['here']).replace('"cluster":"here"', '"cluster":"gone"'),
    'context "here" of the kubeconfig has cluster "gone", which is not among clusters with a server: kubectl config set-context "here" --cluster NAME sets one',
  ],
  ...['http//:bad url', 'localhost:6443'].map((url): [string, string, string] => [
    `server is ${JSON.stringify(url)}`,
    kubeconfigOf(['here']).replace(server, url),
    `the kubeconfig has server ${JSON.stringify(url)}, which is not a URL such as https://10.0.0.1:6443`,
  ]),
])('a kubeconfig whose %s leads to no cluster', async (_, config, problem) => {
  const folder = folderWith({ config });
  await expect(loadKubeConfig({ kubeconfig: join(folder, 'config') })).rejects.toThrow(new KubeConfigError(problem));
});

test.each([
  [
    'cluster',
    { 'certificate-authority': 'ca.crt' },
    /^certificate-authority in the kubeconfig: .*ca\.crt does not exist/,
  ],
  ['cluster', { 'certificate-authority-data': '!!!' }, /^certificate-authority-data in the kubeconfig is not PEM in/],
  ['cluster', { 'certificate-authority': 'config' }, /^certificate-authority in the kubeconfig: .*config is not PEM$/],
  ['user', { 'client-certificate': '.' }, /^client-certificate in the kubeconfig: .* is a folder/],
  ['user', { 'client-key-data': 'Zm9v' }, /^client-key-data in the kubeconfig is not PEM in base64$/],
])('the field of a %s that is not PEM is named: %j', async (where, fields, problem) => {
  const whole = JSON.parse(kubeconfigOf(['here'])) as Record<string, Record<string, object>[]>;
  Object.assign(whole[`${where}s`]?.[0]?.[where] ?? {}, fields);
  const folder = folderWith({ config: JSON.stringify(whole) });
  const load = () => loadKubeConfig({ kubeconfig: join(folder, 'config') });
  await expect(load()).rejects.toThrow(KubeConfigError);
  await expect(load()).rejects.toThrow(problem);
});

test('accepts a certificate that is PEM in base64', async () => {
  const data = Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64');
  const text = kubeconfigOf(['here']).replace('"server"', `"certificate-authority-data":"${data}","server"`);
  const config = await loadKubeConfig({ kubeconfig: join(folderWith({ config: text }), 'config') });
  expect(config.getCurrentCluster()?.caData).toBe(data);
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
    new KubeConfigError('the kubeconfig names no cluster: use --kubeconfig and --context, or run in a pod'),
  );
});

test('accepts a server without TLS', async () => {
  const config = kubeconfigOf(['here']).replace('https://', 'http://');
  const load = (text: string) => loadKubeConfig({ kubeconfig: join(folderWith({ config: text }), 'config') });
  await expect(load(config)).rejects.toThrow(
    new KubeConfigError(
      'the kubeconfig has server "http://127.0.0.1:6443", without TLS: for kubectl proxy add insecure-skip-tls-verify: true' +
        ' to its cluster, otherwise use https',
    ),
  );
  const meant = config.replace('"server"', '"insecure-skip-tls-verify":true,"server"');
  expect((await load(meant)).getCurrentCluster()?.server).toBe('http://127.0.0.1:6443');
  const proxied = config.replace('"server"', '"proxy-url":"http://127.0.0.1:3128","server"');
  expect((await load(proxied)).getCurrentCluster()?.server).toBe('http://127.0.0.1:6443');
});

test.each([
  ['no content', ''],
  ['only white space', ' \r\n\t\n'],
  ['a comment', '---\n# clusters: []\n'],
])('a file with %s is a kubeconfig without entries, as in kubectl', async (_, text) => {
  const folder = folderWith({ empty: text, config: kubeconfigOf(['here']) });
  const KUBECONFIG = [join(folder, 'empty'), join(folder, 'config')].join(delimiter);
  expect((await loadKubeConfig({}, { KUBECONFIG })).getCurrentContext()).toBe('here');
  await expect(loadKubeConfig({ kubeconfig: join(folder, 'empty') })).rejects.toThrow(
    new KubeConfigError('the kubeconfig names no cluster: use --kubeconfig and --context, or run in a pod'),
  );
});

test.each<[string, string]>([
  ['- a', 'it is not a map with clusters, users and contexts'],
  ['users: 5', 'Invalid value: "integer": users in body must be of type array: "integer"'],
  [
    'clusters: [{name: a, cluster: {server: 5}}]',
    'Invalid value: "integer": clusters[0].cluster.server in body must be of type string: "integer"',
  ],
  ['users: [{name: a, user: {token: 5\n  x: 6}}]', 'line 2: YAML: missed comma between flow collection entries'],
])('describes an invalid structure: %s', async (text, problem) => {
  const file = join(folderWith({ config: text }), 'config');
  await expect(loadKubeConfig({ kubeconfig: file })).rejects.toThrow(
    new KubeConfigError(`the kubeconfig ${file} cannot be read: ${problem}`),
  );
});

test.each<[string, string, unknown]>([
  ['cluster', 'certificate-authority-data', -1],
  ['cluster', 'insecure-skip-tls-verify', 'true'],
  ['cluster', 'proxy-url', {}],
  ['user', 'client-key-data', {}],
  ['user', 'token', 5],
  ['user', 'as', 5],
  ['user', 'as-groups', 'g'],
  ['user', 'as-uid', 5],
  ['user', 'as-user-extra', { a: 'b' }],
  ['user', 'exec', 5],
  ['user', 'exec', { command: 'p', args: [5] }],
  ['user', 'exec', { command: 'p', env: [{ name: 'A', value: 5 }] }],
])('rejects a %s with %s of another type, as kubectl does: %j', async (where, field, value) => {
  const whole = JSON.parse(kubeconfigOf(['here'])) as Record<string, Record<string, object>[]>;
  Object.assign(whole[`${where}s`]?.[0]?.[where] ?? {}, { [field]: value });
  const kubeconfig = join(folderWith({ config: JSON.stringify(whole) }), 'config');
  const error = (await loadKubeConfig({ kubeconfig }).catch((thrown: unknown) => thrown)) as Error;
  expect(error).toBeInstanceOf(KubeConfigError);
  expect(error.message).toContain(` ${where}s[0].${where}.${field}`);
  expect(error.message).toContain(' must be of type ');
});

test('entries that are not used may be incomplete, as kubectl config set-context leaves them', async () => {
  const whole = JSON.parse(kubeconfigOf(['here'])) as Record<string, unknown[]>;
  whole.contexts!.push({ name: 'new', context: { namespace: 'a' } }, null);
  whole.clusters!.push({ name: 'new', cluster: {} });
  whole.users!.push({ user: { token: 'x' } });
  const kubeconfig = join(folderWith({ config: JSON.stringify(whole) }), 'config');
  expect((await loadKubeConfig({ kubeconfig })).getCurrentContext()).toBe('here');
  await expect(loadKubeConfig({ kubeconfig, context: 'new' })).rejects.toThrow(
    new KubeConfigError('context "new" with a cluster is not in the kubeconfig (it has here)'),
  );
});

test('a token-file, which kubectl does not know, is not read', async () => {
  const text = kubeconfigOf(['here']).replace('"user":{}', '"user":{"token-file":"no-such-file"}');
  const config = await loadKubeConfig({ kubeconfig: join(folderWith({ config: text }), 'config') });
  expect(config.getCurrentUser()?.token).toBeUndefined();
});

test.each([
  '"user":{"token":null,"as-groups":null,"exec":null}',
  '"user":null',
])('null counts as absent, and yes as true, as in kubectl: %s', async (user) => {
  const text = kubeconfigOf(['here'])
    .replace('"user":{}', user)
    .replace('"server"', '"proxy-url":null,"insecure-skip-tls-verify":yes,"server"');
  const config = await loadKubeConfig({ kubeconfig: join(folderWith({ config: `---\n${text}` }), 'config') });
  expect(config.getCurrentCluster()).toMatchObject({ server, skipTLSVerify: true });
});

test.each<[string, object]>([
  ['a token', { token: 'secret\n' }],
  ['a user to act as', { as: 'jane\r\nx: y' }],
  ['a group', { as: 'jane', 'as-groups': ['a', 'b\u0000'] }],
])('%s with a line break, as the end of a block in YAML leaves it, is refused at once', async (_, user) => {
  const text = kubeconfigOf(['here']).replace('"user":{}', `"user":${JSON.stringify(user)}`);
  await expect(loadKubeConfig({ kubeconfig: join(folderWith({ config: text }), 'config') })).rejects.toThrow(
    new KubeConfigError(
      'the user in the kubeconfig: token, as, as-uid, as-groups and as-user-extra must not have line breaks or other characters that a header cannot have',
    ),
  );
});

test('a context needs a user, unless there is no TLS', async () => {
  const whole = JSON.parse(kubeconfigOf(['here'])) as Record<string, { cluster: object; context: { user?: string } }[]>;
  const load = (text: string) => loadKubeConfig({ kubeconfig: join(folderWith({ config: text }), 'config') });
  const remedy = 'kubectl config set-context "here" --user NAME sets one';
  await expect(load(JSON.stringify({ ...whole, users: [] }))).rejects.toThrow(
    new KubeConfigError(`context "here" of the kubeconfig has user "here", which is not among users: ${remedy}`),
  );
  delete whole.contexts![0]!.context.user;
  await expect(load(JSON.stringify(whole))).rejects.toThrow(
    new KubeConfigError(`context "here" of the kubeconfig has no user: ${remedy}`),
  );
  const cluster = { server: 'http://127.0.0.1:8001', 'insecure-skip-tls-verify': true };
  whole.clusters![0]!.cluster = cluster;
  expect((await load(JSON.stringify(whole))).getCurrentCluster()?.server).toBe(cluster.server);
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

test('names a file with a token that cannot be read, if the context uses it', async () => {
  const whole = JSON.parse(kubeconfigOf(['here', 'there'])) as { users: { user: object }[] };
  Object.assign(whole.users[0]!.user, { tokenFile: 'token' });
  const folder = folderWith({ config: JSON.stringify(whole) });
  const kubeconfig = join(folder, 'config');
  await expect(loadKubeConfig({ kubeconfig, context: 'here' })).rejects.toThrow(
    `the token of the user in the kubeconfig: ${join(folder, 'token')} does not exist`,
  );
  expect((await loadKubeConfig({ kubeconfig, context: 'there' })).getCurrentUser()).not.toBeNull();
});

test('uses the proxy of the environment, as kubectl does, unless the kubeconfig has one', async () => {
  const whole = JSON.parse(kubeconfigOf(['here', 'there'])) as { clusters: { cluster: Record<string, string> }[] };
  Object.assign(whole.clusters[0]!.cluster, { server: 'https://here.test:6443' });
  Object.assign(whole.clusters[1]!.cluster, { server: 'https://there.test:6443', 'proxy-url': 'http://own.test' });
  const kubeconfig = join(folderWith({ config: JSON.stringify(whole) }), 'config');
  const proxyOf = async (context: string, env: NodeJS.ProcessEnv) =>
    (await loadKubeConfig({ kubeconfig, context }, env)).getCurrentCluster()?.proxyUrl;
  const env = { HTTPS_PROXY: 'http://proxy.test:3128' };
  expect(await proxyOf('here', env)).toBe('http://proxy.test:3128');
  expect(await proxyOf('there', env)).toBe('http://own.test');
  expect(await proxyOf('here', { ...env, NO_PROXY: '.test' })).toBeUndefined();
  await expect(proxyOf('here', { HTTPS_PROXY: 'ftp://x' })).rejects.toThrow(KubeConfigError);
  expect(await proxyOf('there', { HTTPS_PROXY: 'ftp://x' })).toBe('http://own.test');
});

test.each(['proxy.test', 'ftp://proxy.test', 'http://a:100%@proxy.test'])('a proxy-url %j is reported', async (url) => {
  const whole = JSON.parse(kubeconfigOf(['here'])) as { clusters: { cluster: object }[] };
  Object.assign(whole.clusters[0]!.cluster, { 'proxy-url': url });
  const kubeconfig = join(folderWith({ config: JSON.stringify(whole) }), 'config');
  await expect(loadKubeConfig({ kubeconfig }, {})).rejects.toThrow(
    new KubeConfigError('proxy-url in the kubeconfig is not the URL of a proxy, such as http://proxy.example.com:3128'),
  );
});
