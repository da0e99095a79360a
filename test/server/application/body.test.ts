import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type BodyHandler, createApplication, createBody, createRefuse, InFlight } from '../../../src/server/index.ts';
import { collectingLog, until } from '../running.ts';

/** An application that answers with the number of bytes of a body, and lets a test see the request afterwards. */
async function counting() {
  const inFlight = new InFlight(1024 * 1024);
  const refused: number[] = [];
  const seen: Parameters<BodyHandler>[0][] = [];
  const count: BodyHandler = (request, response) => {
    seen.push(request);
    inFlight.send(response, { code: 200, text: String(request.body.length) });
  };
  const application = createApplication()
    .post('/', createBody({ maxBodyBytes: 512 * 1024 }, inFlight, true), count)
    .use(createRefuse(collectingLog().log, ({ code }) => refused.push(code)));
  const server = createServer(application);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  /** Posts chunks; the answer is null if the client disconnects after the last one. */
  async function post(chunks: readonly string[], isAborted = false): Promise<[number | undefined, string] | null> {
    const client = httpRequest({ host: '127.0.0.1', port, method: 'POST', agent: false });
    for (const chunk of chunks) {
      client.write(chunk);
    }
    if (isAborted) {
      client.on('error', () => {});
      await until(() => inFlight.bytes > 0, 'some of it has arrived');
      client.destroy();
      return null;
    }
    client.end();
    return new Promise((resolve, reject) => {
      client.on('response', (response) => {
        text(response).then((body) => resolve([response.statusCode, body]), reject);
      });
      client.on('error', reject);
    });
  }
  return { inFlight, refused, seen, post };
}

const chunksOf = (count: number, bytes: number) => Array.from({ length: count }, () => ' '.repeat(bytes));

test.each([
  ['4,096 chunks of a byte', 4_096, 1],
  ['more chunks, of 64 bytes', 8_000, 64],
])('a body in %s is read', async (_, count, bytes) => {
  const { post } = await counting();
  expect(await post(chunksOf(count, bytes))).toEqual([200, String(count * bytes)]);
});

test('a body in more chunks than its bytes justify is refused, and no longer held', async () => {
  const { post, inFlight, refused } = await counting();
  const [code, body] = (await post(chunksOf(20_000, 1))) ?? [];
  expect([code, JSON.parse(body ?? '').message]).toEqual([
    400,
    'the body arrives in too many small pieces, 4162 of 1 bytes on average: send at least 64 bytes at a time',
  ]);
  expect([inFlight.bytes, refused]).toEqual([0, [400]]);
});

test('of a request that was answered nothing is held: neither its body nor its response', async () => {
  const { post, inFlight, seen } = await counting();
  await post(chunksOf(4, 100_000));
  await until(() => inFlight.bytes === 0, 'the response was read');
  expect(seen[0]?.body).toBeUndefined();
});

test('of a client that disconnects before the end of its body nothing is held, and no handler is called', async () => {
  const { post, inFlight, seen } = await counting();
  await post(chunksOf(4, 100_000), true);
  await until(() => inFlight.bytes === 0, 'it has gone');
  expect(seen).toEqual([]);
});
