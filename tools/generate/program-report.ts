import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { Registry } from 'prom-client';
import { createImpactMetrics } from '../../src/checks/impact/index.ts';
import { exitCode, wholeProgram } from '../../src/cli/index.ts';
import { createControllerMetrics } from '../../src/controller/metrics.ts';
import { createCallMetrics as createHandlerMetrics } from '../../src/extension/sdk/http/router.ts';
import { addWatchingMetrics } from '../../src/policy/cluster-facts/index.ts';
import { rules } from '../../src/policy/index.ts';
import { createCallMetrics } from '../../src/runtimehooks/client/exchange/metrics.ts';
import { newestKnownRelease } from '../../src/runtimehooks/index.ts';
import { createMetrics } from '../../src/server/application/metrics.ts';
import { createReviewMetrics, metricsPrefix } from '../../src/webhook/reviews/metrics.ts';

/** The whole program, without any command having run. */
export function idleProgram(): Promise<Command> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  return wholeProgram({ stdin, stdout, stderr, env: {}, signal: new AbortController().signal });
}

/** All metrics of `serve`, of `controller`, and of extensions and their callers. */
export function allMetrics(): Record<'server' | 'controller' | 'extensions', Registry> {
  const { registry: server } = createMetrics(
    { version: '0.0.0', prefix: metricsPrefix, port: 'webhook', processMetrics: true },
    () => ({ connections: { inFlight: 0, open: new Set() }, inFlight: { bytes: 0 } }),
  );
  createReviewMetrics(server, { RuntimeSDK: true });
  addWatchingMetrics(server, metricsPrefix, {
    status: () => ({ isKnown: true, ageMs: 0, objects: 0, problem: undefined }),
  });
  createImpactMetrics(server, metricsPrefix);
  const controller = new Registry();
  createControllerMetrics(controller, newestKnownRelease, () => undefined);
  const extensions = new Registry();
  createHandlerMetrics(extensions);
  createCallMetrics(extensions);
  return { server, controller, extensions };
}

function commandLines(command: Command, path = command.name()): string[] {
  const flags = command.options.map(({ flags: written, long, argChoices }) => {
    const [, value = ''] = /(<.*>)$/.exec(written) ?? [];
    return `flag ${path} ${long}: ${[value, ...(argChoices ?? [])].join(' ')}`.trimEnd();
  });
  const below = command.commands.flatMap((child) => commandLines(child, `${path} ${child.name()}`));
  return [`command ${path}: ${command.usage()}`, ...flags, ...below];
}

/** The file of docs/api for this report. */
export const programReportFile = 'extensionconfig-webhook.program.txt';

/** What scripts, alerts and configuration files rely on, one a line: `flag extensionconfig-webhook lint --output: <FORMAT> text json`. */
export async function programReport(): Promise<string> {
  const metrics = (await Promise.all(Object.values(allMetrics()).map((registry) => registry.getMetricsAsJSON())))
    .flat()
    .filter(({ name }) => !/^(process|nodejs)_/.test(name));
  const lines = [
    ...commandLines(await idleProgram()),
    ...Object.entries(exitCode).map(([meaning, code]) => `exit code ${code}: ${meaning}`),
    ...metrics.map(({ name, type }) => `metric ${name}: ${type}`),
    ...rules.map(({ id, severity }) => `rule ${id}: ${severity}`),
  ];
  return `${lines.toSorted().join('\n')}\n`;
}
