import { backdateMs, type Certificate, problemOf, usable } from '../x509/index.ts';
import type { Facts } from './facts.ts';
import { isInSync, type TargetReading } from './target.ts';

/** What the operator asked for. Durations in ms. */
export interface Settings {
  /** `repair` makes what is missing or broken; `rotate` also renews what is inside its window. */
  mode: 'repair' | 'rotate';
  /** Renew the leaf now; the engine clears it once done. */
  force: boolean;
  /** Rotate the authority now; the engine clears it once begun. */
  forceCa: boolean;
  propagationDelayMs: number;
  overlapMs: number;
  caRenewBeforeMs: number;
  /** Targets that refused in this run, and why. */
  refused: ReadonlyMap<string, string>;
}

/** One step. All but `wait`, `blocked` and `done` are exactly one write of one object. */
export type Action = { reason: string } & (
  | { kind: 'create-authority' }
  | { kind: 'stage-authority'; active: Certificate; previous: Certificate[] }
  | { kind: 'adopt-authority'; authority: Certificate }
  | { kind: 'issue-leaf' }
  | { kind: 'write-bundle' }
  | { kind: 'forget-injection' }
  | { kind: 'inject'; target: TargetReading }
  | { kind: 'record-injection' }
  | { kind: 'promote' }
  | { kind: 'retire' }
  | { kind: 'wait'; until: Date; for: 'propagation' | 'overlap' }
  | { kind: 'blocked' }
  | { kind: 'done' }
);

/** Whether the leaf is in the last third of its life. */
export function leafIsDue(leaf: Certificate, now: Date): boolean {
  const { validFromDate, validToDate } = leaf.x509;
  const life = validToDate.getTime() - validFromDate.getTime();
  return now.getTime() >= validToDate.getTime() - life / 3;
}

/** Whether an authority is inside its renewal window. */
export function authorityIsDue(authority: Certificate, now: Date, renewBeforeMs: number): boolean {
  return now.getTime() >= authority.x509.validToDate.getTime() - renewBeforeMs;
}

function iso(date: Date): string {
  return date.toISOString();
}

/** How a target that was named and is missing is reported, by every command. */
export function missingTarget({ id, problem }: TargetReading): string {
  return `${id}: missing: ${problem ?? 'does not exist'}`;
}

/** The next step towards steady, and why. Pure: the same facts and settings give the same step. */
export function next(facts: Facts, settings: Settings): Action {
  return authorityStep(facts, settings) ?? trustStep(facts, settings);
}

/** Steps that make or stage an authority. */
function authorityStep(facts: Facts, settings: Settings): Action | undefined {
  const { active, activeKey, successor, previous, now } = facts;
  if (active.state !== 'usable') {
    const problem = `the authority's certificate ${problemOf(active)}`;
    const [anchor, ...others] = facts.anchors;
    if (anchor !== undefined) {
      // Pods may serve what the lost authority signed, and targets trust it: it stays trusted while a new one takes over.
      return {
        kind: 'stage-authority',
        active: anchor,
        previous: others,
        reason: `${problem}; targets or pods still use ${anchor.fingerprint.slice(0, 23)}…, so a successor is staged beside it`,
      };
    }
    return { kind: 'create-authority', reason: problem };
  }
  const stage = (reason: string): Action => ({ kind: 'stage-authority', active: active.value, previous, reason });
  if (successor.state === 'broken') {
    return stage(`the next authority ${successor.problem}`);
  }
  if (successor.state === 'usable') {
    return undefined;
  }
  if (activeKey.state !== 'usable') {
    return stage(`the authority's key ${problemOf(activeKey)}`);
  }
  if (facts.stage === 'promoted') {
    return undefined;
  }
  if (settings.forceCa) {
    return stage('asked for with --force-ca');
  }
  if (settings.mode === 'rotate' && authorityIsDue(active.value, now, settings.caRenewBeforeMs)) {
    return stage(`the authority expires at ${iso(active.value.x509.validToDate)}, inside its renewal window`);
  }
  return undefined;
}

/** Why a new leaf is needed, or undefined. */
function leafProblem(facts: Facts, settings: Settings): string | undefined {
  const leaf = usable(facts.leaf);
  if (leaf === undefined) {
    return `the serving certificate ${problemOf(facts.leaf)}`;
  }
  if (facts.leafLacks.length > 0) {
    return `the serving certificate is not for ${facts.leafLacks.join(', ')}`;
  }
  if (facts.leafSigner === undefined) {
    return 'the serving certificate is signed by no authority that is known';
  }
  if (facts.leafSigner.fingerprint !== usable(facts.active)?.fingerprint) {
    return facts.stage === 'staged' ? undefined : 'the serving certificate is not signed by the active authority';
  }
  if (settings.force) {
    return facts.stage === 'staged' ? undefined : 'asked for with --force';
  }
  if (settings.mode === 'rotate' && leafIsDue(leaf, facts.now)) {
    return `the serving certificate expires at ${iso(leaf.x509.validToDate)}, in the last third of its life`;
  }
  return undefined;
}

/** Steps that move trust and the leaf. The authority is usable here. */
function trustStep(facts: Facts, settings: Settings): Action {
  const { now } = facts;
  const active = usable(facts.active) as Certificate;
  const signer = facts.leafSigner;
  if (signer !== undefined && !facts.leafSignerIsKept) {
    return {
      kind: 'adopt-authority',
      authority: signer,
      reason:
        'the serving certificate is signed by an authority that the authority Secret does not know: it stays trusted',
    };
  }
  const problem = leafProblem(facts, settings);
  const canSign = facts.activeKey.state === 'usable';
  // A leaf that works is replaced by one of another authority only when every target has trusted that one for a while.
  const mustPropagate = signer !== undefined && signer.fingerprint !== active.fingerprint;
  if (problem !== undefined && canSign && !mustPropagate) {
    return { kind: 'issue-leaf', reason: problem };
  }
  if (facts.leaf.state !== 'absent' && !facts.servingBundleIsCurrent) {
    return {
      kind: 'write-bundle',
      reason: `the trust bundle of the serving Secret is not that of stage ${facts.stage}`,
    };
  }

  const blocked: string[] = [];
  for (const target of facts.targets) {
    const refusal = settings.refused.get(target.id) ?? (target.state === 'failed' ? target.problem : undefined);
    if (refusal !== undefined) {
      blocked.push(`${target.id}: ${refusal}`);
    } else if (target.state === 'present' && !isInSync(target, facts.bundle)) {
      const reason = `${target.id} does not hold the trust bundle of stage ${facts.stage}`;
      return facts.injectedSince === undefined
        ? { kind: 'inject', target, reason }
        : { kind: 'forget-injection', reason: `${reason}, though it did at ${iso(facts.injectedSince)}` };
    }
  }

  const waits = facts.stage === 'staged' || facts.stage === 'promoted' || (problem !== undefined && mustPropagate);
  if (!waits) {
    // A missing target does not stop a rotation: it trusts nothing, and the others must not expire with it.
    const missing = facts.targets.filter(({ state }) => state === 'missing').map((target) => missingTarget(target));
    if (blocked.length > 0 || missing.length > 0) {
      return { kind: 'blocked', reason: [...blocked, ...missing].join('; ') };
    }
    const targets = facts.targets.length === 0 ? '; no targets were named' : ', and so is every target';
    return { kind: 'done', reason: `the CA and the serving certificate are in order${targets}` };
  }
  if (blocked.length > 0) {
    return { kind: 'blocked', reason: `the rotation stops in stage ${facts.stage}: ${blocked.join('; ')}` };
  }
  if (facts.stage === 'staged' || (problem !== undefined && mustPropagate)) {
    if (facts.injectedSince === undefined) {
      return { kind: 'record-injection', reason: 'every target holds the trust bundle' };
    }
    const until = new Date(facts.injectedSince.getTime() + settings.propagationDelayMs);
    if (until > now) {
      return {
        kind: 'wait',
        for: 'propagation',
        until,
        reason: `every target holds the trust bundle since ${iso(facts.injectedSince)}; API servers need the propagation delay to notice`,
      };
    }
    return facts.stage === 'staged'
      ? { kind: 'promote', reason: `every target trusts the next authority since ${iso(facts.injectedSince)}` }
      : { kind: 'issue-leaf', reason: problem as string };
  }
  // Promoted, with a leaf of the new authority. When it was issued is in the leaf itself, so nobody can wipe it.
  const issued = (usable(facts.leaf) as Certificate).x509.validFromDate.getTime() + backdateMs;
  const until = new Date(Math.min(issued, now.getTime()) + settings.overlapMs);
  if (facts.previous.length > 0 && until > now) {
    return {
      kind: 'wait',
      for: 'overlap',
      until,
      reason: 'pods may still serve what the previous authority signed until the overlap is over',
    };
  }
  return {
    kind: 'retire',
    reason: facts.previous.length > 0 ? 'the overlap is over' : 'the previous authority expired',
  };
}
