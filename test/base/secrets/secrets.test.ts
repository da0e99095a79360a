import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { followed, looksSecret, withoutSecrets } from '../../../src/base/secrets/index.ts';
import { expectLinear, sized } from '../../support/work.ts';

describe('names of secrets', () => {
  test.each([
    ...[
      'password',
      'dbPassword',
      'DB_PASSWORD',
      'db-pwd',
      'dbpassword',
      'password2',
      'passwordHash',
      'pass',
      'password ',
      'api key',
    ],
    ...[
      'registryCredentials',
      'registryAuth',
      'pullSecret',
      'encryptionKey',
      'secretKey',
      'passwords',
      'apiToken',
      'sshKey',
      'TLSKey',
    ],
    ...[
      'kubeconfig',
      'licenseKey',
      'client-key-data',
      'AWS_SECRET_ACCESS_KEY',
      'aws_secret_access_key',
      'hashedPasswd',
      '.dockerconfigjson',
    ],
    ...['tlsBootstrapToken', 'certificateKey', 'ca.key', 'X-Auth-Token', 'apikey', 'dockerPassword'],
  ])('%s', (name) => {
    expect(looksSecret(name)).toBe(true);
  });

  test.each([
    ...[
      'secretName',
      'tokenSecretRef',
      'tokenTTL',
      'tokenBucketSize',
      'compass',
      'monkey',
      'key',
      'publicKey',
      'topologyKey',
    ],
    ...['sshAuthorizedKeys', 'passwordless', 'authorization', 'kubeconfigPath', 'caBundle', 'node-labels', '', 'value'],
  ])('not: %s', (name) => {
    expect(looksSecret(name)).toBe(false);
  });
});

describe('values that are followed', () => {
  const secret = 'tr0ub4dor & "3"';
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const hide = followed([secret]);

  test.each([
    ['as it is', `a ${secret} b`, 'a (not shown) b'],
    ['with other capitals', secret.toUpperCase(), '(not shown)'],
    ['in JSON', JSON.stringify({ a: secret }), '{"a":"(not shown)"}'],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ a: secret })), '"{\\"a\\":\\"(not shown)\\"}"'],
    ['in JSON of Go', 'a: "tr0ub4dor \\u0026 \\"3\\""', 'a: "(not shown)"'],
    ['in a URL', `https://h/?a=${encodeURIComponent(secret)}`, 'https://h/?a=(not shown)'],
    ['in base64', `a: ${base64(secret)}`, 'a: (not shown)'],
    ['in base64 twice', `a: ${base64(base64(secret))}`, 'a: (not shown)'],
    ['in hexadecimal', Buffer.from(secret).toString('hex'), '(not shown)'],
    ['twice', secret + secret, '(not shown)'],
  ])('%s', (_, text, shown) => {
    expect(hide(text)).toBe(shown);
  });

  test('within longer base64, wherever it begins there', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const shown = hide(base64(before + secret + after));
        expect(shown).toContain('(not shown)');
        expect(Buffer.from(shown, 'base64').toString()).not.toContain('ub4dor');
      }),
    );
  });

  test('of several, the longest', () => {
    const hideAll = followed(['hunter22', 'hunter22hunter33', 'hunter22hunter33x', 'zzzzzzzz']);
    expect(hideAll('hunter22 hunter22hunter3 hunter22hunter33y')).toBe('(not shown) (not shown)hunter3 (not shown)y');
  });

  test('of several lines, each of them, however they are indented', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n';
    expect(followed([key])('a: |\n  MIIEvQIBADANBgkq\n  hkiG9w0BAQEFAASC')).toBe('a: |\n  (not shown)\n  (not shown)');
  });

  test('numbers, also as Go prints large ones', () => {
    expect(followed([12345678901])('12345678901 1.2345678901e+10')).toBe('(not shown) (not shown)');
    expect(followed([20_000_000])('2e+07')).toBe('(not shown)');
  });

  test('short ones as words, and not those of three characters, common words and known names', () => {
    const text = 'abc root rooted true default/f1';
    expect(followed(['abc', 'root', 'true', 'f1-default', 'default'])(text)).toBe(
      'abc (not shown) rooted true default/f1',
    );
    expect(followed(['production'], new Set(['production']))('production')).toBe('production');
  });

  test('none comes out of any text', () => {
    const secrets = fc.array(fc.string({ minLength: 8, maxLength: 600, unit: 'binary' }), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(secrets, fc.array(fc.string({ unit: 'binary' })), (values, parts) => {
        const text = [...parts, ...values, ...parts].join(' ');
        const shown = followed(values)(text);
        expect(values.filter((value) => shown.includes(value) && !'(not shown)'.includes(value))).toEqual([]);
      }),
    );
  });

  test('take time in proportion to the text, and to their number', async () => {
    const values = Array.from({ length: sized(2000) }, (_, index) => `${'a'.repeat(200)}${index}`);
    const hideMany = followed(values);
    expect(hideMany(`${'a'.repeat(400)}0`)).toBe(`${'a'.repeat(200)}(not shown)`);
    await expectLinear(sized(400_000), async (size) => hideMany('a'.repeat(size)));
    await expectLinear(sized(2000), async (size) => followed(values.slice(0, size)));
  });
});

describe('what looks like a secret', () => {
  test.each([
    ['DB_PASSWORD=hunter22', 'DB_PASSWORD=(not shown)'],
    ['dockerPassword: hunter22', 'dockerPassword: (not shown)'],
    ['export AWS_SECRET_ACCESS_KEY=hunter22', 'export AWS_SECRET_ACCESS_KEY=(not shown)'],
    ['aws_secret_access_key = hunter22', 'aws_secret_access_key = (not shown)'],
    ['{"auths":{"r.io":{"auth":"aHVudGVy"}}}', '{"auths":{"r.io":{"auth":"(not shown)'],
    ['    client-key-data: LS0t', '    client-key-data: (not shown)'],
    ['keys:\n- name: key1\n  secret: aHVudGVy', 'keys:\n- name: key1\n  secret: (not shown)'],
    ['password:\n  hunter22\nuser: a', 'password:\n  (not shown)\nuser: a'],
    ['password: >-\n  user: hunter22\n\n  more\nuser: a', 'password: >-\n  (not shown)\n\n  (not shown)\nuser: a'],
    ['passwords:\n  - hunter22', 'passwords:\n  (not shown)'],
    ['echo "root:hunter22" | chpasswd', '(not shown)'],
    ['curl --token hunter22', 'curl --token (not shown)'],
    ['X-Auth-Token: hunter22', 'X-Auth-Token: (not shown)'],
    ['http://user:hunter22@proxy', 'http(not shown)'],
    ['kubeadm join abcdef.0123456789abcdef', 'kubeadm join (not shown)'],
    ['key LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk', 'key (not shown)'],
    ['token AKIAIOSFODNN7EXAMPLE', 'token (not shown)'],
  ])('%j', (text, shown) => {
    expect(withoutSecrets(text)).toBe(shown);
  });

  test.each([
    'cannot get secret: not found',
    'failed to load kubeconfig: no such file',
    'patch "dbPassword": cannot be read',
    'secretRef:\n  name: a',
    'secret:\n  name: a\n  key: b',
    'cert LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t',
    'password={{ .password }}',
    'spec.tokenTTL: Invalid value: "x"',
  ])('not: %j', (text) => {
    expect(withoutSecrets(text)).toBe(text);
  });

  test('takes time in proportion to the text', async () => {
    expect(withoutSecrets('password:\n '.repeat(3))).not.toContain('not shown');
    await expectLinear(sized(100_000), async (size) => withoutSecrets('a.-'.repeat(size)));
    await expectLinear(sized(100_000), async (size) => withoutSecrets('password:\n '.repeat(size)));
    await expectLinear(sized(100_000), async (size) => withoutSecrets(`--${'a '.repeat(size)}`));
  });
});
