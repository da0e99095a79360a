import { backdateMs, type Certificate, problemOf, usable } from '../../base/x509/index.ts';
import type { CertificateFacts } from './facts.ts';
import { isInSync, type TargetReading } from './target.ts';

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
  caRenewBeforeMs: number;
  /** Targets that could not be written in this run, and why. */
  refused: ReadonlyMap<string, string>;
}

/** One step. Each kind except `wait`, `blocked` and `done` is exactly one write of one object. */
export type Action = { reason: string } & (
  | { kind: 'create-ca' }
  | { kind: 'stage-ca'; active: Certificate; previous: Certificate[] }
  | { kind: 'adopt-ca'; cas: Certificate[] }
  | { kind: 'issue-serving-certificate' }
  | { kind: 'write-bundle' }
  | { kind: 'forget-injection' }
  | { kind: 'inject' }
  | { kind: 'record-injection' }
  | { kind: 'promote' }
  | { kind: 'retire' }
  | { kind: 'record-removal' }
  | { kind: 'wait'; until: Date; for: 'propagation' | 'overlap' }
  | { kind: 'blocked' }
  | { kind: 'done' }
);

/** Whether a serving certificate is in the last third of its validity period. */
export function isServingCertificateDue(serving: Certificate, now: Date): boolean {
  const { validFromDate, validToDate } = serving.x509;
  const lifetimeMs = validToDate.getTime() - validFromDate.getTime();
  return now.getTime() >= validToDate.getTime() - lifetimeMs / 3;
}

/** Whether a CA is inside its renewal window. */
export function isCaDue(ca: Certificate, now: Date, renewBeforeMs: number): boolean {
  return now.getTime() >= ca.x509.validToDate.getTime() - renewBeforeMs;
}

/**
 * How long all targets must have had the bundle once another client has overwritten some twice in a rotation, in ms.
 * Promoted too early, the next CA signs what targets do not trust after the next overwriting. Longer than the attempts
 * of a failed Job take together, which are less than a minute apart.
 */
const heldUpDelayMs = 10 * 60_000;

/** Whether another client has overwritten targets twice in this rotation: once may be a manifest applied again. */
function isHeldUp({ overwritten }: CertificateFacts): boolean {
  return overwritten !== undefined && overwritten.times > 1;
}

/** Whether a step is a wait that is unlikely to end without the operator, since another client holds the rotation up. */
export function isStuck(action: Action, facts: CertificateFacts): boolean {
  return action.kind === 'wait' && action.for === 'propagation' && isHeldUp(facts);
}

/** Who holds the rotation up, and what to do, as the end of a reason; empty if nobody does. */
function heldUpBy({ overwritten }: CertificateFacts, active: Certificate): string {
  if (overwritten === undefined) {
    return '';
  }
  const { times, since, targets } = overwritten;
  const often = times === 1 ? `at ${iso(since)}` : `${times} times since ${iso(since)}`;
  return `; another client has overwritten caBundle in ${targets.join(', ')} ${often}, and the wait starts over each time: if a GitOps tool does so, let it ignore that field, since the rotation must end before the CA expires at ${iso(active.x509.validToDate)}`;
}

function iso(date: Date): string {
  return date.toISOString();
}

/** Why a certificate is not valid yet, if so: a clock must be wrong, here or where it was issued. */
function earlyProblem({ x509 }: Certificate, now: Date): string | undefined {
  return x509.validFromDate > now ? `is not valid before ${iso(x509.validFromDate)}` : undefined;
}

/** The message about a named target that is missing, which is the same in every command. */
export function missingTarget({ id, problem }: TargetReading): string {
  return `${id}: missing: ${problem ?? 'does not exist'}`;
}

const missingOf = (targets: readonly TargetReading[]) =>
  targets.filter(({ state }) => state === 'missing').map(missingTarget);

/** That something is true of every target, as a part of a sentence, if that is true; missing ones are named. */
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
  return caStep(facts, settings) ?? trustStep(facts, settings);
}

function caStep(facts: CertificateFacts, settings: Settings): Action | undefined {
  const { active, activeKey, ownCaProblem, successor, previous, now } = facts;
  if (ownCaProblem !== undefined) {
    const reason = `the CA was not created here and cannot be used: ${ownCaProblem}. It is not replaced: store a CA certificate as ca.crt and its key, without a password, as ca.key (both PEM), or delete the Secret of the CA and run bootstrap, which creates one`;
    return { kind: 'blocked', reason };
  }
  if (active.state !== 'usable') {
    const problem = `the CA's certificate ${problemOf(active)}`;
    const [anchor, ...others] = facts.anchors;
    if (anchor !== undefined) {
      // Pods may still serve a certificate of the lost CA, and targets trust it: it stays trusted until a new CA has
      // taken over.
      return {
        kind: 'stage-ca',
        active: anchor,
        previous: others,
        reason: `${problem}; targets or pods still use ${anchor.fingerprint.slice(0, 23)}…, so a successor is staged next to it`,
      };
    }
    return { kind: 'create-ca', reason: problem };
  }
  const stage = (reason: string): Action => ({ kind: 'stage-ca', active: active.value, previous, reason });
  if (successor.state === 'broken') {
    return stage(`the next CA ${successor.problem}`);
  }
  if (successor.state === 'usable') {
    // It has not signed anything yet, so replacing it is harmless, whichever clock is wrong.
    const early = earlyProblem(successor.value, now);
    return early === undefined ? undefined : stage(`the next CA ${early}`);
  }
  if (activeKey.state !== 'usable') {
    return stage(`the key of the CA ${problemOf(activeKey)}`);
  }
  if (facts.stage === 'promoted') {
    return undefined;
  }
  if (settings.forceCa) {
    return stage('requested with --force-ca');
  }
  if (settings.mode === 'rotate' && isCaDue(active.value, now, settings.caRenewBeforeMs)) {
    return stage(`the CA expires at ${iso(active.value.x509.validToDate)}, inside its renewal window`);
  }
  return undefined;
}

/** Why a new serving certificate is needed, or undefined. */
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
    return facts.stage === 'staged' ? undefined : 'requested with --force';
  }
  if (settings.mode === 'rotate' && isServingCertificateDue(serving, facts.now)) {
    return `the serving certificate expires at ${iso(serving.x509.validToDate)}, in the last third of its validity`;
  }
  return undefined;
}

/** Steps that move trust and the serving certificate to the active CA, which is usable here. */
function trustStep(facts: CertificateFacts, settings: Settings): Action {
  const { now } = facts;
  const active = usable(facts.active) as Certificate;
  const signer = facts.signer;
  if (signer !== undefined && !facts.isSignerInBundle) {
    return {
      kind: 'adopt-ca',
      cas: [signer],
      reason: 'the serving certificate is signed by a CA that is not in the Secret of the CA: it stays trusted',
    };
  }
  if (facts.forgotten.length > 0) {
    return {
      kind: 'adopt-ca',
      cas: facts.forgotten,
      reason:
        'every target trusts a CA that is not in the Secret of the CA (restored from a backup?): it stays trusted for the overlap, because pods may still serve its certificates',
    };
  }
  const problem = servingProblem(facts, active, settings);
  const canSign = facts.activeKey.state === 'usable';
  // A working serving certificate is replaced with one from another CA only after every target has trusted that CA for
  // a while.
  const mustPropagate = signer !== undefined && signer.fingerprint !== active.fingerprint;
  if (problem !== undefined && canSign && !mustPropagate) {
    return { kind: 'issue-serving-certificate', reason: problem };
  }
  if (facts.serving.state !== 'absent' && !facts.servingBundleIsCurrent) {
    return {
      kind: 'write-bundle',
      reason: `the trust bundle in the serving Secret does not match stage ${facts.stage}`,
    };
  }

  const blocked: string[] = [];
  for (const target of facts.targets) {
    const refusal = settings.refused.get(target.id) ?? (target.state === 'failed' ? target.problem : undefined);
    if (refusal !== undefined) {
      blocked.push(`${target.id}: ${refusal}`);
    } else if (target.state === 'present' && !isInSync(target, facts.bundle)) {
      const reason = `${target.id} does not have the trust bundle of stage ${facts.stage}`;
      return facts.injectedSince === undefined
        ? { kind: 'inject', reason }
        : { kind: 'forget-injection', reason: `${reason}, although it did at ${iso(facts.injectedSince)}` };
    }
  }

  // Without any target, nothing is known: those of another run may still trust it.
  if (facts.retired.length > 0 && blocked.length === 0 && facts.targets.some(({ state }) => state === 'present')) {
    return { kind: 'record-removal', reason: 'no target trusts a retired CA any longer' };
  }

  if (facts.stage === 'steady' && !mustPropagate) {
    // A missing target does not stop a rotation: it trusts nothing, and the other certificates must not expire because
    // of it.
    // The CA may be the user's own, and the wrong clock may be the local one: it is replaced only on request.
    const early = earlyProblem(active, now);
    const wrong =
      early === undefined ? [] : [`the CA ${early}: check the clocks, or replace it with rotate --force-ca`];
    const problems = [...wrong, ...blocked, ...missingOf(facts.targets)];
    if (problems.length > 0) {
      return { kind: 'blocked', reason: problems.join('; ') };
    }
    const targets = facts.targets.length === 0 ? '; no targets were named' : ', and so is every target';
    return { kind: 'done', reason: `the CA and the serving certificate are in order${targets}` };
  }
  if (blocked.length > 0) {
    return { kind: 'blocked', reason: `the rotation stops in stage ${facts.stage}: ${blocked.join('; ')}` };
  }
  if (facts.stage === 'staged' || mustPropagate) {
    if (facts.injectedSince === undefined) {
      return { kind: 'record-injection', reason: ofTargets(facts.targets, 'has the trust bundle') };
    }
    const delayMs = isHeldUp(facts)
      ? Math.max(settings.propagationDelayMs, heldUpDelayMs)
      : settings.propagationDelayMs;
    const until = new Date(facts.injectedSince.getTime() + delayMs);
    if (until > now) {
      return {
        kind: 'wait',
        for: 'propagation',
        until,
        reason: `${ofTargets(facts.targets, `has had the trust bundle since ${iso(facts.injectedSince)}`)}; API servers need the propagation delay to notice${heldUpBy(facts, active)}`,
      };
    }
    return facts.stage === 'staged'
      ? {
          kind: 'promote',
          reason: ofTargets(facts.targets, `has trusted the next CA since ${iso(facts.injectedSince)}`),
        }
      : { kind: 'issue-serving-certificate', reason: problem as string };
  }
  if (facts.previous.length === 0) {
    return { kind: 'retire', reason: 'the previous CA expired' };
  }
  const adopted = facts.adoptedSince?.getTime() ?? 0;
  if (adopted > now.getTime()) {
    // The clock was ahead then, or is behind now. Waiting for that time could take years.
    return {
      kind: 'adopt-ca',
      cas: [],
      reason: `a previous CA was adopted at ${iso(new Date(adopted))}, which is in the future: the overlap starts over`,
    };
  }
  // Promoted, with a serving certificate of the new CA. Its time of issue is taken from the certificate itself, where
  // no write can lose it, in whole seconds, rounded up. A restored one is older than the CA that was adopted.
  const issued = (usable(facts.serving) as Certificate).x509.validFromDate.getTime() + backdateMs;
  const until = new Date(Math.max(issued, adopted) + settings.overlapMs);
  if (settings.overlapMs > 0 && until > now) {
    return {
      kind: 'wait',
      for: 'overlap',
      until,
      reason: 'pods may still serve certificates of the previous CA until the overlap is over',
    };
  }
  return { kind: 'retire', reason: 'the overlap is over' };
}
