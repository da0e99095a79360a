import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { systemEntropy } from '../../src/x509/index.ts';

// Certificates of tests need keys that fit, and none that is secret: an RSA key takes 40 ms of a processor, and a run would
// make 500. What the program makes by itself is shown by test/x509/keys.test.ts, in a process of its own.
const fixture = readFileSync(new URL('../fixtures/certs/rsa-keys.pem', import.meta.url), 'utf8');
const pairs = fixture.split(/(?<=END PRIVATE KEY-----\n)/).map((privateKey) => ({
  privateKey,
  publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
}));

let given = 0;
/** Another key pair each time, until they come round again. */
systemEntropy.makeKeyPair = async () => pairs[given++ % pairs.length] as (typeof pairs)[number];
