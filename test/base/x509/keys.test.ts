import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import type { KeyPair } from '../../../src/base/x509/index.ts';

// In a process of its own: tests in this one are given their keys (test/support/given-keys.ts).
test('every key is new, RSA with 2048 bits, in PEM', () => {
  const module = new URL('../../../src/base/x509/index.ts', import.meta.url).href;
  const script = `import { systemEntropy } from '${module}';
    const pairs = await Promise.all([systemEntropy.makeKeyPair(), systemEntropy.makeKeyPair()]);
    console.log(JSON.stringify(pairs));`;
  const made = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  const pairs = JSON.parse(made) as KeyPair[];
  expect(new Set(pairs.map(({ privateKey }) => privateKey)).size).toBe(2);
  for (const { privateKey, publicKey } of pairs) {
    expect(privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const key = createPrivateKey(privateKey);
    expect([key.asymmetricKeyType, key.asymmetricKeyDetails]).toMatchObject(['rsa', { modulusLength: 2048 }]);
    expect(createPublicKey(key).export({ type: 'spki', format: 'pem' })).toBe(publicKey);
  }
});
