import { readFileSync } from 'node:fs';
import { systemEntropy } from '../../src/base/x509/index.ts';

// Certificates of tests need keys that match, but not secret ones: an RSA key takes 40 ms of CPU time, and a run would
// make 500. The keys that the program generates are tested by test/base/x509/keys.test.ts, in a process of its own.
const read = (name: string) =>
  readFileSync(new URL(`./fixtures/certs/${name}`, import.meta.url), 'utf8').split(/(?<=END \w+ KEY-----\n)/);
const publicKeys = read('rsa-public-keys.pem');
const pairs = read('rsa-keys.pem').map((privateKey, index) => ({ privateKey, publicKey: publicKeys[index] as string }));

let given = 0;
/** A different key pair each time, in rotation. */
systemEntropy.makeKeyPair = async () => pairs[given++ % pairs.length] as (typeof pairs)[number];
