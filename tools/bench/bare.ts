// Run with a folder that holds tls.crt and tls.key, and `node` or `express`. The baselines: the least that an admission
// webhook can do with each. It reads JSON and writes JSON, without limits or rules.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';

const [folder = '.', kind] = process.argv.slice(2);
const cert = readFileSync(join(folder, 'tls.crt'));
const key = readFileSync(join(folder, 'tls.key'));

function answerTo(body: Buffer) {
  const review = JSON.parse(body.toString());
  return { apiVersion: review.apiVersion, kind: review.kind, response: { uid: review.request.uid, allowed: true } };
}

const application = express();
application.post(/.*/, express.raw({ type: 'application/json' }), (request, response) => {
  response.json(answerTo(request.body));
});

const server =
  kind === 'express'
    ? createServer({ cert, key }, application)
    : createServer({ cert, key }, (request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const text = JSON.stringify(answerTo(Buffer.concat(chunks)));
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
          response.end(text);
        });
      });
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ msg: 'listening', webhookPort: (server.address() as AddressInfo).port })}\n`,
  );
});
