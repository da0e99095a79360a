import { isJsonObject, type JsonObject } from '../../../kubernetes/index.ts';
import { isCallError, openTls, type Resolve, type Target } from '../../../runtimehooks/client/index.ts';
import { hooks } from '../../../runtimehooks/index.ts';
import { type Check, ofAnswering, type ReportProblem, type Skipped } from '../check.ts';
import { describe, difference, isSuccess, type Outcome } from '../outcome.ts';
import { samples } from '../sample-requests.ts';
import type { CheckedHandler, Trial } from '../trial.ts';

/**
 * Calls handlers with a variation of their request. One that answers the plain request otherwise is blamed for it only
 * after the plain request was sent again.
 *
 * @param vary returns the variation of a request, or its text; undefined for a handler that it does not apply to.
 * @param most maximum number of handlers to call.
 */
const varied =
  (what: string, vary: (handler: CheckedHandler) => JsonObject | string | undefined, most = Number.POSITIVE_INFINITY) =>
  async ({ answering }: Trial, report: ReportProblem): Promise<Skipped> => {
    let count = 0;
    for (const handler of await answering()) {
      const body = vary(handler);
      if (body === undefined || count === most) {
        continue;
      }
      count++;
      const before = await handler.second();
      const outcome = await handler.call({ body });
      if (before.error === undefined && (await handler.isAffectedBy(outcome))) {
        const how = outcome.error === undefined ? `: ${difference(before, outcome)}` : ` it ${describe(outcome)}`;
        report(`${what}${how}`, handler);
      }
    }
    return count === 0 ? 'it applies to none of the called handlers' : undefined;
  };

/** A request with fields that are in no release, both at the top level and in its objects. */
function withUnknownFields(request: JsonObject): JsonObject {
  const fields = { conformanceUnknownField: { a: [1, 'two', null] } };
  const known = Object.entries(request).map(([name, value]) =>
    isJsonObject(value) && isJsonObject(value.spec)
      ? [name, { ...value, ...fields, spec: { ...value.spec, ...fields } }]
      : [name, value],
  );
  return { ...Object.fromEntries(known), ...fields };
}

/** Size of the padding, in bytes: a ClusterClass with many templates comes to some MiB. */
const paddingBytes = 2 * 1024 * 1024;
/** Maximum number of handlers that get a large request: a server usually has one limit for all. */
const maxLargeRequests = 4;

/** Bodies that are not requests. With `mustFail`, no decoder can accept the body. */
const malformed: readonly { what: string; body: string | Buffer; mustFail: boolean }[] = [
  { what: 'an empty body', body: '', mustFail: true },
  { what: 'a text', body: 'not json', mustFail: true },
  { what: 'half an object', body: '{"apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","kind":', mustFail: true },
  { what: 'bytes', body: Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]), mustFail: true },
  { what: 'a list', body: '[]', mustFail: false },
  { what: 'null', body: 'null', mustFail: false },
  { what: '20,000 open brackets', body: '['.repeat(20_000), mustFail: true },
  {
    what: 'fields of wrong types',
    body: JSON.stringify({ cluster: 5, items: 'five', variables: { a: 1 }, current: [], desired: 0, settings: 'x' }),
    mustFail: false,
  },
];

function malformedProblem(what: string, mustFail: boolean, outcome: Outcome): string | undefined {
  const { step, code = 0 } = outcome.error ?? {};
  const isFine = step === undefined ? !(mustFail && isSuccess(outcome)) : step === 'http' && code >= 400 && code < 500;
  return isFine ? undefined : `given ${what} it ${describe(outcome)}`;
}

/** Number of timeouts after which malformed bodies are given up: with a server that hangs they would take hours. */
const maxHangs = 3;
/** Number of callers that disconnect within their request, and of those that disconnect before the answer. */
const hangUps = 5;

/** Starts a POST that announces a longer body than it sends, and disconnects. */
async function hangUpWithinRequest(target: Target, resolve: Resolve | undefined, signal: AbortSignal): Promise<void> {
  const socket = await openTls(target, resolve, signal, { ALPNProtocols: ['http/1.1'] });
  if (socket !== undefined) {
    const head = `POST ${target.path} HTTP/1.1\r\nHost: ${target.host}\r\nContent-Length: 1000\r\n\r\n`;
    await new Promise<void>((done) => socket.write(`${head}{"apiVersion":`, () => done()));
    socket.destroy();
  }
}

/** The checks of requests as newer, older or no releases of Cluster API send them. */
export const variationChecks: readonly Check[] = [
  {
    id: 'unknown-fields',
    level: 'must',
    requirement: 'A request with unknown fields gets the same answer.',
    reason: 'Releases of Cluster API add fields to requests and objects without a new version of the hook.',
    remedy: 'ignore unknown fields when decoding requests (no DisallowUnknownFields, no additionalProperties: false)',
    run: varied('with unknown fields', ({ request }) => withUnknownFields(request)),
  },
  {
    id: 'cluster-without-type',
    level: 'must',
    requirement: 'A Cluster without apiVersion and kind gets the same answer.',
    reason: "Cluster API's controllers read Clusters from a cache, where both may be missing.",
    remedy: 'do not require apiVersion and kind of the Cluster: its type follows from the hook',
    run: varied('given a Cluster without apiVersion and kind', ({ request }) => {
      if (!isJsonObject(request.cluster)) {
        return undefined;
      }
      const { apiVersion: _a, kind: _k, ...cluster } = request.cluster;
      return { ...request, cluster };
    }),
  },
  {
    id: 'older-cluster',
    level: 'should',
    requirement: 'A v1beta1 Cluster, which releases up to 1.12 send, is accepted or refused with a Failure.',
    reason: 'The hook version is the same in both cases: an extension for several releases of Cluster API gets both.',
    remedy: 'check apiVersion before decoding the spec, and read both versions',
    run: ofAnswering(
      async (handler, report) => {
        const outcome = await handler.call({ body: { ...handler.request, cluster: samples.olderCluster } });
        if (outcome.error !== undefined) {
          report(`given a Cluster of v1beta1 it ${describe(outcome)}`);
        } else if (isSuccess(await handler.second()) && !isSuccess(outcome)) {
          report('refuses a Cluster of v1beta1: it works with Cluster API 1.13 and newer');
        }
      },
      'no handler that is called gets a Cluster',
      ({ request }) => request.cluster !== undefined,
    ),
  },
  {
    id: 'large-request',
    level: 'must',
    requirement: 'A request of 2 MiB gets the same answer as a small one.',
    reason:
      'GeneratePatches requests contain all templates of a class, up to 20 MiB; many frameworks refuse bodies over 100 KiB.',
    remedy: "raise the limit of the body parser to 20 MiB (in Express: express.json({ limit: '20mb' }))",
    run: varied(
      'given 2 MiB',
      // The padding is put into the text: writing it as JSON would take most of the time of the call.
      ({ request }) => `${JSON.stringify(request).slice(0, -1)},"conformancePadding":"${'x'.repeat(paddingBytes)}"}`,
      maxLargeRequests,
    ),
  },
  {
    id: 'malformed-bodies',
    level: 'must',
    requirement: 'A body that is not a request gets a Failure or HTTP 4xx, in time.',
    reason: 'Anyone who can reach the port can send anything: it must not crash, block or mislead the server.',
    remedy: 'catch errors of the JSON parser and answer status Failure; keep a limit on size and depth',
    needsDiscovery: true,
    async run({ answering, discovery }, report) {
      for (const { what, body } of malformed) {
        // Discovery does not depend on its request: it only has to respond.
        const message = malformedProblem(what, false, await discovery.call({ body }));
        if (message !== undefined) {
          report(message, { name: hooks.Discovery.name });
          break;
        }
      }
      let hung = 0;
      for (const handler of await answering()) {
        for (const { what, body, mustFail } of malformed) {
          const outcome = await handler.call({ body });
          const message = malformedProblem(what, mustFail, outcome);
          if (message !== undefined) {
            report(message, handler);
          }
          hung += outcome.error?.step === 'timeout' ? 1 : 0;
          if (hung >= maxHangs) {
            return;
          }
          if (outcome.error !== undefined && outcome.error.step !== 'http') {
            break;
          }
        }
      }
    },
  },
  {
    id: 'caller-hangs-up',
    level: 'must',
    requirement: 'A caller that hangs up, during its request or before the response, does not affect the next one.',
    reason:
      'Cluster API hangs up when a call times out or its controller stops: a server that does not survive that is often down.',
    remedy: 'handle errors on closed requests and responses',
    needsDiscovery: true,
    async run({ targetFor, resolve, signal, discovery, answering }, report) {
      const [callee = discovery] = await answering();
      const target = targetFor(callee);
      if (isCallError(target)) {
        return 'there is no address';
      }
      const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
      for (let count = 0; count < hangUps; count++) {
        await hangUpWithinRequest(target, resolve, limit);
        await callee.call({ hangUpAfterMs: 1 });
      }
      const after = `after ${2 * hangUps} callers hung up`;
      for (const one of new Set([discovery, callee])) {
        const outcome = await one.call();
        if (outcome.error !== undefined) {
          report(`${after}, ${one === discovery ? 'Discovery' : 'it'} ${describe(outcome)}`, one);
        }
      }
      return undefined;
    },
  },
];
