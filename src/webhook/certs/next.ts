import { backdateMs, type Certificate, problemOf, usable } from '../../base/x509/index.ts';
import type { CertificateFacts } from './facts.ts';
import { isInSync, type TargetReading } from './store.ts';

/** The operator's settings. Durations are in ms. */
export interface Settings {
  /** `repair` creates what is missing or invalid; `rotate` also renews what is inside its renewal window. */
  mode: 'repair' | 'rotate';
  /** Renew the serving certificate now; the engine resets this once it is done. */
  force: boolean;
  /** Rotate the CA now; the engine resets this once the rotation has begun. */
  forceCa: boolean;
  propagationDelayMs: number;
  overlapMs: number;
  /** Targets that could not be written in this run, and why. */
  refused: ReadonlyMap<string, string>;
  startedAt: Date;
}

/** One step. Each kind except `wait`, `blocked` and `done` is exactly one write of one object. */
export type Action = { reason: string } & (
  | { kind: 'create-ca' | 'trust-ca' | 'stage-ca' | 'promote' | 'retire' }
  | { kind: 'issue-serving-certificate' | 'write-bundle' | 'inject' }
  | { kind: 'wait'; until: Date; for: 'propagation' | 'overlap' }
  | { kind: 'blocked' | 'done' }
);

/** When a serving certificate is due: in the last third of its validity period. */
export function servingCertificateDueAt({ x509 }: Certificate): Date {
  const lifetimeMs = x509.validToDate.getTime() - x509.validFromDate.getTime();
  return new Date(x509.validToDate.getTime() - lifetimeMs / 3);
}

/** When a CA is due: half a year before it expires, since it is in many places, and must be replaced in all of them. */
export function caDueAt({ x509 }: Certificate): Date {
  return new Date(x509.validToDate.getTime() - 180 * 86_400_000);
}

/** How long after its propagation delay a rotation may be staged, in ms: the Job runs each hour. */
const maxStagedMs = 3 * 3_600_000;

/** Whether a step is a wait that has begun over and over, most likely because another client resets the bundle. */
export function isStuck(action: Action, { stagedSince, now }: CertificateFacts, propagationDelayMs: number): boolean {
  return (
    action.kind === 'wait' &&
    action.for === 'propagation' &&
    stagedSince !== undefined &&
    now.getTime() - stagedSince.getTime() > propagationDelayMs + maxStagedMs
  );
}

const iso = (date: Date): string => date.toISOString();

/** Why a certificate is not valid yet, if so: a clock must be wrong, here or where it was issued. */
function earlyProblem({ x509 }: Certificate, now: Date): string | undefined {
  return x509.validFromDate > now ? `is not valid before ${iso(x509.validFromDate)}` : undefined;
}

export const missingTarget = ({ id, problem = 'does not exist' }: TargetReading) => `${id}: missing: ${problem}`;

const missingOf = (targets: readonly TargetReading[]) =>
  targets.filter(({ state }) => state === 'missing').map(missingTarget);

/** That something is true of every target that exists, as a part of a sentence; missing ones are named. */
function ofTargets(targets: readonly TargetReading[], claim: string): string {
  const missing = missingOf(targets);
  if (missing.length === 0) {
    return `every target ${claim}`;
  }
  const rest = missing.length === targets.length ? 'no target exists' : `every target that exists ${claim}`;
  return `${rest} (${missing.join('; ')})`;
}

/** The next step towards steady, and why. Pure: the same facts and settings give the same step. */
export function next(facts: CertificateFacts, settings: Settings): Action {
  const { ownCaProblem, stage, previous } = facts;
  if (ownCaProblem !== undefined) {
    const remedy =
      'It is not replaced: store a CA certificate as ca.crt and its key, without a password, as ca.key (both PEM), or delete the Secret of the CA and run bootstrap, which creates one';
    return { kind: 'blocked', reason: `the CA was not created here and cannot be used: ${ownCaProblem}. ${remedy}` };
  }
  const staging = stagingReason(facts, settings);
  if (staging !== undefined) {
    const kind = stage === 'missing' ? 'create-ca' : facts.inUse === undefined ? 'stage-ca' : 'trust-ca';
    return { kind, reason: staging };
  }
  const active = usable(facts.active) as Certificate;
  // A serving certificate that pods may have is replaced with one from another CA only after every target has trusted that
  // CA for a while.
  const issuer = facts.signer ?? previous[0] ?? active;
  const mustPropagate = issuer.fingerprint !== active.fingerprint;
  const problem = servingProblem(facts, active, settings);
  const issue: Action | undefined =
    problem === undefined ? undefined : { kind: 'issue-serving-certificate', reason: problem };
  if (issue && facts.activeKey.state === 'usable' && !mustPropagate) {
    return issue;
  }
  if (facts.serving.state !== 'absent' && !facts.servingBundleIsCurrent) {
    return { kind: 'write-bundle', reason: `the trust bundle in the serving Secret does not match stage ${stage}` };
  }
  const { outdated, refusals } = checkTargets(facts, settings);
  if (outdated !== undefined) {
    return outdated;
  }
  if (stage === 'steady' && !mustPropagate) {
    return steadyState(facts, active, refusals);
  }
  if (refusals.length > 0) {
    return { kind: 'blocked', reason: `the rotation stops in stage ${stage}: ${refusals.join('; ')}` };
  }
  if (stage === 'staged' || mustPropagate) {
    const promote: Action = { kind: 'promote', reason: ofTargets(facts.targets, 'trusts the next CA') };
    return propagationStep(facts, active, settings) ?? (stage === 'staged' ? promote : (issue as Action));
  }
  return previous.length === 0 ? { kind: 'retire', reason: 'the previous CA expired' } : overlapStep(facts, settings);
}

function stagingReason(facts: CertificateFacts, settings: Settings): string | undefined {
  const { active, activeKey, successor, inUse, now, stage } = facts;
  if (inUse !== undefined) {
    const problem = problemOf(active);
    const whose = problem === undefined ? 'that is not in the Secret of the CA' : 'of before';
    const why = `targets or pods still use a CA ${whose} (${inUse.fingerprint.slice(0, 23)}…), which stays trusted`;
    return problem === undefined ? why : `the CA's certificate ${problem}; ${why}`;
  }
  if (active.state !== 'usable') {
    return `the CA's certificate ${problemOf(active)}`;
  }
  if (successor.state === 'broken') {
    return `the next CA ${successor.problem}`;
  }
  if (successor.state === 'usable') {
    // It has not signed anything yet, so replacing it is harmless, whichever clock is wrong.
    const early = earlyProblem(successor.value, now);
    return early && `the next CA ${early}`;
  }
  if (activeKey.state !== 'usable') {
    return `the key of the CA ${problemOf(activeKey)}`;
  }
  if (stage === 'promoted') {
    return undefined;
  }
  if (settings.forceCa) {
    return 'requested with --force ca';
  }
  return settings.mode === 'rotate' && now >= caDueAt(active.value)
    ? `the CA expires at ${iso(active.value.x509.validToDate)}, inside its renewal window`
    : undefined;
}

function servingProblem(facts: CertificateFacts, active: Certificate, settings: Settings): string | undefined {
  const serving = usable(facts.serving);
  if (serving === undefined) {
    return `the serving certificate ${problemOf(facts.serving)}`;
  }
  if (facts.servingLacks.length > 0) {
    return `the serving certificate is not for ${facts.servingLacks.join(', ')}`;
  }
  if (facts.signer === undefined) {
    return 'the serving certificate is not signed by any known CA';
  }
  if (facts.signer.fingerprint !== active.fingerprint) {
    return 'the serving certificate is not signed by the active CA';
  }
  const early = earlyProblem(serving, facts.now);
  if (early !== undefined) {
    return `the serving certificate ${early}`;
  }
  if (settings.force) {
    return facts.stage === 'staged' ? undefined : 'requested with --force serving';
  }
  if (settings.mode === 'rotate' && facts.now >= servingCertificateDueAt(serving)) {
    return `the serving certificate expires at ${iso(serving.x509.validToDate)}, in the last third of its validity`;
  }
  return undefined;
}

/** The step that brings the bundle into a target that lacks it, if any; and why others cannot be written. */
function checkTargets(facts: CertificateFacts, settings: Settings): { outdated?: Action; refusals: string[] } {
  const refusals: string[] = [];
  for (const target of facts.targets) {
    const refusal = settings.refused.get(target.id) ?? (target.state === 'failed' ? target.problem : undefined);
    if (refusal !== undefined) {
      refusals.push(`${target.id}: ${refusal}`);
    } else if (target.state === 'present' && !isInSync(target, facts.bundle)) {
      const reason = `${target.id} does not have the trust bundle of stage ${facts.stage}`;
      return { outdated: { kind: 'inject', reason }, refusals };
    }
  }
  return { refusals };
}

/** A missing target does not stop a rotation: it trusts nothing, and the other certificates must not expire because of it. */
function steadyState({ targets, now }: CertificateFacts, active: Certificate, refusals: readonly string[]): Action {
  // The CA may be the user's own, and the wrong clock may be the local one: it is replaced only on request.
  const early = earlyProblem(active, now);
  const wrong = early && `the CA ${early}: check the clocks, or replace it with rotate --force ca`;
  const problems = [...(wrong ? [wrong] : []), ...refusals, ...missingOf(targets)];
  if (problems.length > 0) {
    return { kind: 'blocked', reason: problems.join('; ') };
  }
  const parts =
    targets.length === 0 ? 'the CA and the serving certificate' : 'the CA, the serving certificate and all targets';
  return { kind: 'done', reason: `${parts} are in order${targets.length === 0 ? '; no targets were named' : ''}` };
}

function propagationStep(facts: CertificateFacts, active: Certificate, settings: Settings): Action | undefined {
  const { targets, now, stagedSince, injectedAt } = facts;
  const { startedAt, propagationDelayMs } = settings;
  const since = Math.max((stagedSince ?? startedAt).getTime(), injectedAt?.getTime() ?? 0);
  const until = new Date(since + propagationDelayMs);
  if (until <= now) {
    return undefined;
  }
  const reason = `${ofTargets(targets, 'has the trust bundle')}; API servers need the propagation delay to notice`;
  const wait: Action = { kind: 'wait', for: 'propagation', until, reason };
  if (!isStuck(wait, facts, propagationDelayMs)) {
    return wait;
  }
  const held = `the rotation is staged since ${iso(stagedSince as Date)}, and the wait starts over each time that another client resets a caBundle: if a GitOps tool does so, let it ignore that field, since the rotation must end before the CA expires at ${iso(active.x509.validToDate)}`;
  return { ...wait, reason: `${reason}; ${held}` };
}

/** Promoted, with a serving certificate of the new CA: pods may still serve certificates of the previous one. */
function overlapStep(facts: CertificateFacts, { overlapMs }: Settings): Action {
  // The time of issue is taken from the certificate itself, where no write can lose it, in whole seconds, rounded up.
  const issued = (usable(facts.serving) as Certificate).x509.validFromDate.getTime() + backdateMs;
  const until = new Date(issued + overlapMs);
  const reason = 'pods may still serve certificates of the previous CA until the overlap is over';
  return overlapMs > 0 && until > facts.now
    ? { kind: 'wait', for: 'overlap', until, reason }
    : { kind: 'retire', reason: 'the overlap is over' };
}
