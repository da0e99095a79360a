import { createServer, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { endWith } from '../support/ends.ts';
import type { Lab } from './lab.ts';

/** A request that was passed on. */
export interface Passed {
  method: string;
  path: string;
  /** The API server's response, once there is one. */
  code?: number;
}

/** A connection to the API server of a lab that can be watched, delayed and cut. */
export interface Proxy {
  kubeConfig: KubeConfig;
  /** Requests that were passed on, in order. */
  passed: Passed[];
  /** Requests that ended before they were passed on. */
  aborted: Passed[];
  /** Called before a request is passed on, which waits for the promise. */
  hold: (one: Passed) => Promise<unknown> | undefined;
  /** Called when a request was answered: the caller gets the response after the promise. */
  holdAnswer: (one: Passed) => Promise<unknown> | undefined;
  /** Message and code (403) of a rejection: the request is not passed on. */
  refuse: (one: Passed, body: string) => { message: string; code?: number } | undefined;
  /** From now on connections are refused, and existing ones end. */
  cut(): Promise<void>;
  restore(): Promise<void>;
}

/** Puts a proxy in front of a lab. */
export async function startProxy({ sandbox }: Lab): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true, ca: sandbox.ca });
  const make = () =>
    createServer(async (incoming: IncomingMessage, response) => {
      const one: Passed = { method: incoming.method ?? '', path: incoming.url ?? '' };
      let isGone = false;
      response.on('close', () => {
        isGone = true;
      });
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) {
        chunks.push(chunk as Buffer);
      }
      await proxy.hold(one);
      if (isGone) {
        proxy.aborted.push(one);
        return;
      }
      const refusal = proxy.refuse(one, Buffer.concat(chunks).toString());
      if (refusal !== undefined) {
        const { message, code = 403 } = refusal;
        const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code };
        response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(status));
        return;
      }
      proxy.passed.push(one);
      const { host: _, ...headers } = incoming.headers;
      const onward = request(new URL(one.path, sandbox.url), { method: one.method, headers, agent }, async (answer) => {
        one.code = answer.statusCode ?? 500;
        await proxy.holdAnswer(one);
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      onward.end(Buffer.concat(chunks));
    });
  let server = make();
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const kubeConfig = new KubeConfig();
  const proxy: Proxy = {
    kubeConfig,
    passed: [],
    aborted: [],
    hold: () => undefined,
    holdAnswer: () => undefined,
    refuse: () => undefined,
    async cut() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async restore() {
      server = make();
      await listen(port);
    },
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  kubeConfig.loadFromClusterAndUser(
    { name: 'proxy', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'proxy', token: sandbox.token },
  );
  endWith(async () => {
    await proxy.cut().catch(() => {});
    agent.destroy();
  });
  return proxy;
}

/** Writes: requests that change something, except for events and Leases. */
export const writesIn = (passed: readonly Passed[]) =>
  passed.filter(({ method, path }) => method !== 'GET' && !/\/(events|leases)(\/|$)/.test(path));

/** Writes without those rejected as conflicts, which a client that learns of a change late may try. */
export const takenIn = (passed: readonly Passed[]) => writesIn(passed).filter(({ code }) => code !== 409);
