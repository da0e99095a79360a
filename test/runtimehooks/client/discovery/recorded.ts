import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import type { Answering } from '../extension-server.ts';

/** An answer to Discovery, and the condition `Discovered` that Cluster API's manager wrote for it. */
export interface RecordedDiscovery {
  case: string;
  extension: string;
  answer: {
    handlers?: JsonObject[];
    code?: number;
    body?: string;
    headers?: Record<string, string>;
    delaySeconds?: number;
  };
  status: 'True' | 'False';
  reason: string;
  message: string;
}

export const recordedDiscoveries = readFileSync(
  new URL('../../../support/fixtures/runtime-sdk/main/discovery.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as RecordedDiscovery);

/** Answers as recorded; one that answered late never answers. */
export function answeringLike({ answer }: RecordedDiscovery): Answering {
  return (_received, response) => {
    if (answer.delaySeconds !== undefined) {
      return undefined;
    }
    if (answer.handlers !== undefined) {
      return { status: 'Success', handlers: answer.handlers };
    }
    response.writeHead(answer.code ?? 200, answer.headers).end(answer.body);
    return undefined;
  };
}

/** Where an answer has a wrong type, our own words instead of Go's. */
const goTypeErrors: readonly (readonly [go: string, ours: string])[] = [
  [
    'json: cannot unmarshal string into Go struct field DiscoveryResponse.handlers of type []v1alpha1.ExtensionHandler',
    'handlers must be of type array, not string',
  ],
  [
    'json: cannot unmarshal string into Go struct field ExtensionHandler.handlers.timeoutSeconds of type int32',
    'handlers[0].timeoutSeconds must be of type integer, not string',
  ],
];

/** The message of the recorded condition, for a server at another URL. */
export const messageAt = ({ message }: RecordedDiscovery, url: string): string =>
  goTypeErrors.reduce((text, [go, ours]) => text.replace(go, ours), message.replaceAll('https://localhost:19750', url));
