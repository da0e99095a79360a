import { withoutControls } from '../../../base/index.ts';
import { problemOf } from '../../../base/x509/index.ts';
import { Forbidden, shortRetries } from '../../../kubernetes/client/index.ts';
import {
  annotatedExtensionConfigs,
  bundleOfSecret,
  deriveFacts,
  externalProblem,
  type Injection,
  injectTargets,
  isStuck,
  issuerAnnotation,
  missingTarget,
  next,
  type Run,
  readRotation,
  readSnapshot,
  runCertificates,
  type Step,
  type StoredSecret,
} from '../../../webhook/certs/index.ts';
import { defineCommand } from '../../framework/command.ts';
import { defaultsOf, type Flags, type FlagValues } from '../../framework/flags.ts';
import { writeReport } from '../../framework/layout.ts';
import { exitCode, FailureError, type Io } from '../../framework/program.ts';
import { startProgress } from '../../framework/progress.ts';
import {
  areAnnotatedMeant,
  type CertsContext,
  commonFlags,
  injectFlags,
  issuingFlags,
  namedTargets,
  type RunFlags,
  readContext,
  readRun,
  rotateFlags,
} from './flags.ts';
import { renderStatus, statusOf } from './status.ts';

const linesText = (lines: readonly string[]): string => lines.map((line) => `${withoutControls(line)}\n`).join('');

function reportInjections(
  injections: Injection[],
  output: CertsContext['output'],
  io: Io,
  fields: object = {},
): number {
  const lines = injections.flatMap(({ id, result, reason, skipped }) => [
    `${id}: ${result}${reason === undefined ? '' : `: ${reason}`}`,
    ...skipped.map((line) => `${id}: left alone: ${line}`),
  ]);
  writeReport(io, output, { ...fields, targets: injections }, () =>
    linesText(lines.length === 0 ? ['no targets'] : lines),
  );
  return injections.some(({ result }) => result === 'failed' || result === 'missing') ? exitCode.findings : exitCode.ok;
}

async function inject(context: CertsContext, extensionConfigs: boolean): Promise<Injection[]> {
  const { cluster, targets, clock } = context;
  const injections = await injectTargets(targets, () => context.bundle(), clock);
  if (extensionConfigs && cluster !== undefined) {
    const bundleOf = (annotation: string) => bundleOfSecret(cluster, annotation);
    injections.push(...(await injectTargets(annotatedExtensionConfigs(cluster), bundleOf, clock)));
  }
  return injections;
}

/** Runs work whose steps are printed as lines, on a terminal also the current wait if it lasts over a second. */
async function reporting(io: Io, work: (report: (step: Step) => void) => Promise<number>): Promise<number> {
  let doing = 'waiting for the API server';
  let lastWait = '';
  using line = startProgress(io.stderr, () => doing);
  const report = ({ action, reason }: Step) => {
    const text = `${action}: ${reason}`;
    doing = action === 'wait' ? text : 'waiting for the API server';
    // A wait is checked every half minute, perhaps for a day, but its line is written once.
    if (text !== lastWait) {
      line.clear();
      io.stderr.write(`${withoutControls(text)}\n`);
    }
    lastWait = action === 'wait' ? text : '';
  };
  return await work(report);
}

/** Certificates of a machine whose clock is wrong would not be valid anywhere else: none is issued. */
function checkClock({ cluster, clock }: CertsContext): void {
  const offsetMs = cluster?.clockOffsetMs?.() ?? 0;
  // Certificates are backdated by five minutes.
  if (Math.abs(offsetMs) > 60 * 60_000) {
    const now = clock.now();
    const there = new Date(now.getTime() + offsetMs);
    throw new FailureError(
      `this machine's clock says ${now.toISOString()}, and the API server's ${there.toISOString()}: correct the one that is wrong, since certificates issued here would not be valid there`,
    );
  }
}

async function injectOnly(
  context: CertsContext,
  io: Io,
  reason: string,
  serving: StoredSecret | undefined,
): Promise<number> {
  io.stderr.write(`${reason}\n`);
  const injections = await inject(context, false);
  const bundle = await context.bundle();
  // An issuer that has been uninstalled leaves its Secret, and nothing else notices until it expires.
  const facts = deriveFacts(context.clock.now(), undefined, serving, [], []);
  const lack = facts.serving.state === 'absent' ? undefined : externalProblem(facts);
  const remedy = `renew it where it is issued; for one from this program instead, uninstall that issuer first, remove the annotation ${issuerAnnotation} from ${context.store.describe('serving')} or the flag --external-ca, and run rotate`;
  const problem =
    bundle.state === 'usable' ? lack && `${lack}: ${remedy}` : `there is nothing to inject: ${problemOf(bundle)}`;
  const missing = injections.filter(({ result }) => result === 'missing').map(({ id }) => id);
  const fields = { stage: 'external', result: 'inject only', reason, problem, missing };
  const code = reportInjections(injections, context.output, io, fields);
  if (problem !== undefined) {
    io.stderr.write(`${withoutControls(problem)}\n`);
  }
  return bundle.state === 'usable' && facts.serving.state !== 'broken' ? code : exitCode.findings;
}

async function advance(flags: RunFlags, io: Io, mode: 'repair' | 'rotate', report: Run['report']): Promise<number> {
  const context = await readContext(flags, io);
  const run = readRun(flags, mode);
  const serving = await context.store.read('serving');
  const external = context.external(serving);
  if (external !== undefined) {
    return injectOnly(context, io, external, serving);
  }
  checkClock(context);
  const { action, facts } = await runCertificates({ ...context, ...run, report });
  const missing = facts.targets.filter(({ state }) => state === 'missing');
  const { kind: result, reason } = action;
  const until = action.kind === 'wait' ? action.until.toISOString() : undefined;
  const { stage } = facts;
  writeReport(io, context.output, { stage, result, reason, until, missing: missing.map(({ id }) => id) }, () =>
    linesText([
      ...facts.targets.flatMap(({ id, skipped }) => skipped.map((line) => `${id}: left alone: ${line}`)),
      ...missing.map(missingTarget),
      until === undefined
        ? `stage ${stage}: ${result}: ${reason}`
        : `stage ${stage}: ${reason}. Run again after ${until}.`,
    ]),
  );
  // Stopped during a wait: the progress has been reported, and the next run continues from there.
  io.signal.throwIfAborted();
  return action.kind === 'blocked' || isStuck(action, facts, run.settings.propagationDelayMs) || missing.length > 0
    ? exitCode.findings
    : exitCode.ok;
}

/** Who rotates, as a sentence. That this may not be read is nothing wrong. */
async function rotationOf(
  { cluster, namespace, clock }: CertsContext,
  serving: StoredSecret | undefined,
): Promise<string> {
  if (cluster === undefined) {
    return 'certificates are not renewed automatically: run certs rotate';
  }
  try {
    return (await readRotation(cluster, namespace, serving, clock.now())).text;
  } catch (error) {
    if (error instanceof Forbidden) {
      return `unknown: ${error.message}`;
    }
    throw error;
  }
}

const bootstrapFlags = { ...commonFlags, ...issuingFlags };

function subcommand<F extends Flags>(
  summary: string,
  flags: F,
  work: (flags: FlagValues<F>, io: Io, report: (step: Step) => void) => Promise<number>,
) {
  const command = defineCommand({
    description: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    flags,
    run: (call) => reporting(call.io, (report) => work(call.flags, call.io, report)),
  });
  return { summary, ...command };
}

export const command = defineCommand({
  description: 'Manages the CA, the serving certificate and caBundles.',
  commands: {
    bootstrap: subcommand(
      'create what is missing or broken, and inject the trust bundle',
      bootstrapFlags,
      (flags, io, report) => advance(flags, io, 'repair', report),
    ),
    rotate: subcommand(
      'renew what is due, and continue a rotation that is under way',
      { ...bootstrapFlags, ...rotateFlags },
      (flags, io, report) => advance(flags, io, 'rotate', report),
    ),
    inject: subcommand(
      'write the trust bundle into the targets, and do nothing else',
      { ...commonFlags, ...injectFlags },
      async (flags, io) => {
        const context = await readContext(flags, io);
        const bundle = await context.bundle();
        const injections = await inject(context, areAnnotatedMeant(flags));
        const code = reportInjections(injections, context.output, io);
        const named = new Set(namedTargets(flags).map(({ kind, name }) => `${kind}/${name}`));
        const untouched = injections.filter(({ id, result }) => result === 'left alone' && named.has(id));
        if (untouched.length > 0) {
          const ids = untouched.map(({ id }) => id).join(', ');
          io.stderr.write(`nothing was injected into ${ids}: name its service with --service and --namespace\n`);
          return exitCode.findings;
        }
        if (flags['external-ca'] && bundle.state !== 'usable') {
          io.stderr.write(`there is nothing to inject: ${problemOf(bundle)}\n`);
          return exitCode.findings;
        }
        return code;
      },
    ),
    status: subcommand(
      'show what exists, what rotate would do now, and why; exit code 1 if something is wrong or due',
      bootstrapFlags,
      async (flags, io) => {
        const { settings } = readRun(flags, 'rotate');
        const context = await readContext(flags, io, shortRetries);
        const { facts, servingSecret } = await readSnapshot(context);
        const action =
          context.external(servingSecret) ?? next(facts, { ...settings, refused: new Map(), startedAt: facts.now });
        const rotation = await rotationOf(context, servingSecret);
        const status = statusOf(facts, action, await context.bundle(), rotation);
        writeReport(io, context.output, status, () => renderStatus(status));
        return status.ok ? exitCode.ok : exitCode.findings;
      },
    ),
  },
});

/** `certs bootstrap` for another command. @throws {FailureError} if something is in the way. */
export async function bootstrap(given: Partial<RunFlags>, signal: AbortSignal): Promise<void> {
  const flags = { ...defaultsOf(bootstrapFlags), ...given };
  const run = { ...(await readContext(flags, { env: {}, signal })), ...readRun(flags, 'repair') };
  const { action, facts } = await runCertificates({ ...run, report: () => {} });
  const missing = facts.targets.find(({ state }) => state === 'missing');
  if (action.kind !== 'done' || missing !== undefined) {
    const problem = missing === undefined ? action.reason : missingTarget(missing);
    throw new FailureError(`certificates could not be created: ${problem}`);
  }
}
