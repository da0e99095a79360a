import { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { send, textReply } from '../../../src/sandbox/http/http.ts';
import { InFlight } from '../../../src/sandbox/http/in-flight.ts';

test('a large response, be it an error, is a 429 while too many are in flight; a small one is sent', () => {
  const inFlight = new InFlight();
  inFlight.reserve(2 ** 30);
  const codeOf = (code: number, body: string) => {
    const response = new ServerResponse({ method: 'GET' } as never);
    send(response, textReply(code, body), inFlight);
    return response.statusCode;
  };
  expect([codeOf(500, 'a'.repeat(100_000)), codeOf(500, 'a')]).toEqual([429, 500]);
  inFlight.release(2 ** 30);
  expect(codeOf(500, 'a'.repeat(100_000))).toBe(500);
});
