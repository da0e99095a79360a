import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

// Run with a folder that holds tls.crt and tls.key. The baseline: the least that an admission webhook can do. It reads
// JSON and writes JSON, without limits or rules.
const [folder = '.'] = process.argv.slice(2);
const cert = readFileSync(join(folder, 'tls.crt'));
const key = readFileSync(join(folder, 'tls.key'));
const server = createServer({ cert, key }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const review = JSON.parse(Buffer.concat(chunks).toString());
    const text = JSON.stringify({
      apiVersion: review.apiVersion,
      kind: review.kind,
      response: { uid: review.request.uid, allowed: true },
    });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ msg: 'listening', webhookPort: (server.address() as AddressInfo).port })}\n`,
  );
});
