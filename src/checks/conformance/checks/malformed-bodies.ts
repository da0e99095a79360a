import { hooks } from '../../../runtimehooks/index.ts';
import type { Check, CheckProblem } from '../check.ts';
import { describe, type Heard, isSuccess } from '../heard.ts';

/** Bodies that are not requests. With `mustFail`, no decoder can accept the body. */
const bodies: readonly { what: string; body: string | Buffer; mustFail: boolean }[] = [
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

function problemOf(what: string, mustFail: boolean, heard: Heard): Omit<CheckProblem, 'handler'> | undefined {
  if (heard.kind === 'failed') {
    return { message: `given ${what} it ${describe(heard)}` };
  }
  if (heard.kind === 'refused') {
    return heard.code >= 400 && heard.code < 500 ? undefined : { message: `given ${what} it ${describe(heard)}` };
  }
  return mustFail && isSuccess(heard) ? { message: `given ${what} it answers Success` } : undefined;
}

export const check: Check = {
  id: 'malformed-bodies',
  group: 'Calls',
  level: 'must',
  asks: 'A body that is not a request gets a Failure or HTTP 4xx, in time.',
  why: 'Anyone who can reach the port can send anything: it must not crash, block or mislead the server.',
  remedy: 'catch errors of the JSON parser and answer status Failure; keep a limit on size and depth',
  async run({ answering, call, discover, discovery }, report) {
    if (discovery.heard.kind !== 'answer') {
      return { because: 'Discovery has no answer' };
    }
    for (const { what, body } of bodies) {
      // Discovery does not depend on its request: it only has to respond.
      const { heard } = await discover({ body });
      const problem = problemOf(what, false, heard);
      if (problem !== undefined) {
        report({ handler: hooks.Discovery.name, ...problem });
        break;
      }
    }
    let hung = 0;
    for (const handler of await answering()) {
      for (const { what, body, mustFail } of bodies) {
        const heard = await call(handler, { body });
        const problem = problemOf(what, mustFail, heard);
        if (problem !== undefined) {
          report({ handler: handler.name, ...problem });
        }
        if (heard.kind === 'failed' && heard.error.step === 'timeout' && ++hung >= 3) {
          // With a server that does not respond, this would otherwise take hours.
          return undefined;
        }
        if (heard.kind === 'failed') {
          break;
        }
      }
    }
    return undefined;
  },
};
