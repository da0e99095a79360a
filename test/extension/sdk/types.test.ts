import { expect, test } from 'vitest';
import {
  createExtensionServer,
  type HandlerContext,
  HandlersError,
  handler,
  type ResponseFor,
} from '../../../src/extension/index.ts';
import { callHandler } from '../../../src/extension/sdk/testing/index.ts';
import { accepted, optional } from './types.ts';

test('handlers that compile are served, in the given order', () => {
  const server = createExtensionServer({ handlers: accepted });
  expect(server.handlers).toEqual(accepted);
  expect(server.warnings).toEqual([
    expect.stringMatching(/"wait" of .*BeforeClusterUpgrade: timeoutSeconds 25 is more than 10/),
    expect.stringMatching(/with failurePolicy Ignore an outage/),
  ]);
});

test('a handler may be an object of a class', async () => {
  class Wait {
    readonly name = 'wait';
    handle(_: unknown, { answer }: HandlerContext<ResponseFor<'BeforeClusterCreate'>>) {
      return answer.done();
    }
  }
  expect(await callHandler(handler('BeforeClusterCreate', new Wait()))).toMatchObject({ result: 'success' });
});

test('all mistakes are reported at once, including those that types cannot detect', () => {
  const name: string = 'Not_A-Label';
  const seconds: number = 31;
  const done = handler('CanUpdateMachine', { name: 'can', handle: (_, { answer }) => answer.done() });
  const create = () =>
    createExtensionServer({
      handlers: [
        handler('BeforeClusterCreate', { name, timeoutSeconds: seconds, handle: (_, { answer }) => answer.done() }),
        handler('BeforeClusterDelete', { name, handle: (_, { answer }) => answer.done() }),
        done,
        { ...done, name: 'can-too' },
      ],
    });
  expect(create).toThrow(HandlersError);
  try {
    create();
  } catch (error) {
    expect((error as HandlersError).problems).toEqual([
      expect.stringMatching(/BeforeClusterCreate: the name must consist of lower case letters/),
      expect.stringMatching(/BeforeClusterCreate: timeoutSeconds 31 is not a whole number from 1 to 30/),
      expect.stringMatching(/BeforeClusterDelete: the name must consist/),
      expect.stringMatching(
        /BeforeClusterDelete: handler "Not_A-Label" of .*Hook=BeforeClusterCreate has the same name/,
      ),
      expect.stringMatching(/"can-too" of .*CanUpdateMachine: handler "can" of .* serves the same hook/),
    ]);
  }
});

test('options that are undefined have their defaults', async () => {
  const { server, call } = optional(undefined, undefined);
  expect(server.handlers).toMatchObject([{ name: 'optional', timeoutSeconds: undefined }]);
  expect(await call()).toMatchObject({ ok: true });
});
