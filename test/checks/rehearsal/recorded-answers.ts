import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { Answering } from '../../runtimehooks/client/extension-server.ts';

interface Recorded {
  request: { path: string };
  response: { status: number; body: string };
}

const file = new URL('../../support/fixtures/runtime-sdk/server-answers.json', import.meta.url);

/**
 * Responses of Cluster API's own test extension when it was recorded: discovery and the recorded hooks byte for byte; a
 * plain success for the other hooks.
 */
export function recordedAnswers(): Answering {
  const answers = new Map<string, JsonObject>();
  for (const { request, response } of JSON.parse(readFileSync(file, 'utf8')) as Recorded[]) {
    const body = response.status === 200 ? (JSON.parse(response.body) as JsonObject) : {};
    if (body.status === 'Success') {
      answers.set(request.path, body);
    }
  }
  return ({ url }) => answers.get(url.split('?')[0] ?? '') ?? { status: 'Success' };
}
