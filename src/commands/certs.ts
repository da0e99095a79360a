import type { Command } from 'commander';
import {
  annotatedExtensionConfigs,
  type Injection,
  injectTargets,
  next,
  readSnapshot,
  runCertificates,
} from '../certs/index.ts';
import {
  addPlaceFlags,
  addPolicyFlags,
  type CertsFlags,
  orFail,
  type Place,
  readPlace,
  readRun,
} from './certs-flags.ts';
import { renderStatus, statusOf } from './certs-status.ts';
import { type DefineCommand, exitCode, FailureError, type Io } from './program.ts';

/** Writes injections as lines or JSON; returns the exit code. */
function reportInjections(injections: Injection[], json: boolean, io: Io): number {
  if (json) {
    io.stdout.write(`${JSON.stringify({ targets: injections }, null, 2)}\n`);
  } else {
    for (const { id, result, reason, skipped } of injections) {
      io.stdout.write(`${id}: ${result}${reason === undefined ? '' : `: ${reason}`}\n`);
      for (const line of skipped) {
        io.stdout.write(`${id}: left alone: ${line}\n`);
      }
    }
    if (injections.length === 0) {
      io.stdout.write('no targets\n');
    }
  }
  return injections.some(({ result }) => result === 'failed' || result === 'missing') ? exitCode.findings : exitCode.ok;
}

async function inject(place: Place, flags: CertsFlags): Promise<Injection[]> {
  const injections = await injectTargets(place.targets, () => place.bundle(), place.clock);
  if (flags.extensionConfigs && place.cluster !== undefined) {
    const annotated = annotatedExtensionConfigs(place.cluster);
    injections.push(...(await injectTargets(annotated.targets, annotated.bundleFor, place.clock)));
  }
  return injections;
}

/** bootstrap and rotate: walks the state machine as far as it may. */
async function advance(flags: CertsFlags, command: Command, io: Io, mode: 'repair' | 'rotate'): Promise<number> {
  const place = readPlace(flags, command, io);
  const run = readRun(flags, place, io, mode);
  const external = await place.external();
  if (external !== undefined) {
    io.stderr.write(`${external}\n`);
    return reportInjections(await inject(place, flags), place.json, io);
  }
  const { action, facts } = await runCertificates({
    ...run,
    report: ({ action: step, reason }) => io.stderr.write(`${step}: ${reason}\n`),
  });
  const missing = facts.targets.filter(({ state }) => state === 'missing').map(({ id }) => id);
  if (place.json) {
    const until = action.kind === 'wait' ? { until: action.until.toISOString() } : {};
    io.stdout.write(
      `${JSON.stringify({ stage: facts.stage, result: action.kind, reason: action.reason, ...until, missing }, null, 2)}\n`,
    );
  } else {
    for (const target of facts.targets) {
      for (const line of target.skipped) {
        io.stdout.write(`${target.id}: left alone: ${line}\n`);
      }
    }
    io.stdout.write(
      action.kind === 'wait'
        ? `stage ${facts.stage}: ${action.reason}. Run again after ${action.until.toISOString()}.\n`
        : `stage ${facts.stage}: ${action.kind}: ${action.reason}\n`,
    );
  }
  if (missing.length > 0) {
    throw new FailureError(`these targets do not exist: ${missing.join(', ')}`);
  }
  return action.kind === 'blocked' ? exitCode.findings : exitCode.ok;
}

/** `extensionconfig-webhook certs …`: certificates of the webhook. */
export const defineCerts: DefineCommand = (certs, io, end) => {
  certs.description('authority, serving certificate and caBundles: make, rotate, inject, look');
  addPolicyFlags(addPlaceFlags(certs.command('bootstrap')))
    .description('make what is missing or broken and inject the trust bundle; changes nothing when all is there')
    .action(async (flags: CertsFlags, command: Command) =>
      end(await orFail(() => advance(flags, command, io, 'repair'))),
    );
  addPolicyFlags(addPlaceFlags(certs.command('rotate')))
    .description('renew what is inside its renewal window, and go on with a rotation that is under way')
    .option('--force', 'renew the serving certificate now')
    .option('--force-ca', 'rotate the authority too, now')
    .option('--wait', 'go through all stages in this run, with their waits')
    .action(async (flags: CertsFlags, command: Command) =>
      end(await orFail(() => advance(flags, command, io, 'rotate'))),
    );
  addPlaceFlags(certs.command('inject'))
    .description('write the trust bundle into the targets, nothing else')
    .option(
      '--extension-configs',
      'also every ExtensionConfig with the annotation runtime.cluster.x-k8s.io/inject-ca-from-secret',
    )
    .action(async (flags: CertsFlags, command: Command) =>
      end(
        await orFail(async () => {
          const place = readPlace(flags, command, io);
          return reportInjections(await inject(place, flags), place.json, io);
        }),
      ),
    );
  addPolicyFlags(addPlaceFlags(certs.command('status')))
    .description('what is there, what rotate would do now, and why; exit code 1 when something is wrong or due')
    .action(async (flags: CertsFlags, command: Command) =>
      end(
        await orFail(async () => {
          const place = readPlace(flags, command, io);
          const run = readRun(flags, place, io, 'rotate');
          const { facts } = await readSnapshot(run);
          const external = await place.external();
          const action = external === undefined ? next(facts, { ...run.settings, refused: new Map() }) : undefined;
          const status = statusOf(facts, action, external, await place.bundle(), run.settings.caRenewBeforeMs);
          io.stdout.write(place.json ? `${JSON.stringify(status, null, 2)}\n` : renderStatus(status));
          return status.ok ? exitCode.ok : exitCode.findings;
        }),
      ),
    );
};
