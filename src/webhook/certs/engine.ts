import { bundleOf, type Certificate, issueCa, issueServingCertificate, usable } from '../../base/x509/index.ts';
import { type CertificateFacts, deriveFacts, injectedAtAnnotation, stagedSinceAnnotation } from './facts.ts';
import { injectInto } from './inject.ts';
import { type Action, next, type Settings } from './next.ts';
import { type CertificateStore, Conflict, type SecretContents, type StoredSecret, type TargetAccess } from './store.ts';

export interface Clock {
  now(): Date;
  /** Resolves after this many ms, or when the run is stopped. */
  sleep(ms: number): Promise<void>;
}

export interface Step {
  action: Action['kind'] | 'conflict' | 'continue' | 'refused';
  reason: string;
}

export interface Run {
  store: CertificateStore;
  targets: TargetAccess;
  clock: Clock;
  settings: Omit<Settings, 'refused' | 'startedAt'>;
  /** DNS names and IP addresses for the serving certificate; the first becomes its common name. */
  names: readonly string[];
  /** Waits to block on; any other wait ends the run. */
  blockOn: ReadonlySet<'propagation' | 'overlap'>;
  report(step: Step): void;
  signal: AbortSignal;
}

/** The rotation of a serving certificate, in its last third, may fail for a month before it expires. */
const servingValidityMs = 90 * 86_400_000;
const caValidityMs = 1825 * 86_400_000;
/** Number of conflicts in a row after which a run gives up, since another client keeps writing. */
const maxConflicts = 20;
/** Number of steps in a row without a wait after which a run gives up: no run needs a fifth of them. */
const maxSteps = 100;
/** Longest sleep during a wait, in ms: in between, overwritten targets are injected again. */
const maxSleepMs = 30_000;

interface Snapshot {
  facts: CertificateFacts;
  caSecret: StoredSecret | undefined;
  servingSecret: StoredSecret | undefined;
}

export async function readSnapshot(run: Pick<Run, 'store' | 'targets' | 'clock' | 'names'>): Promise<Snapshot> {
  // The order matters: a target is read before the Secrets that decide what it should contain, and its patch tests the
  // value read here. So a decision based on old Secrets never overwrites what a newer one has written.
  const targets = await run.targets.read();
  const servingSecret = await run.store.read('serving');
  const caSecret = await run.store.read('ca');
  return { facts: deriveFacts(run.clock.now(), caSecret, servingSecret, targets, run.names), caSecret, servingSecret };
}

/**
 * Runs the state machine: a step is one write, after which everything is read again. @throws {Conflict} after 20.
 * @returns the last decision: `done`, `wait` (a later run continues) or `blocked`.
 */
export async function runCertificates(run: Run): Promise<{ action: Action; facts: CertificateFacts }> {
  const refused = new Map<string, string>();
  const startedAt = run.clock.now();
  let { force, forceCa } = run.settings;
  let conflicts = 0;
  let steps = 0;
  for (let isFirst = true; ; isFirst = false) {
    const snapshot = await readSnapshot(run);
    const { facts } = snapshot;
    const { stage } = facts;
    if (forceCa && stage !== 'steady') {
      // A rotation in progress counts: it renews the serving certificate too, and another renewal would start the
      // overlap over.
      if (isFirst && stage !== 'missing') {
        const reason = `a rotation is under way (stage ${stage}), so --force ca starts no other one`;
        run.report({ action: 'continue', reason });
      }
      forceCa = false;
    }
    const action = next(facts, { ...run.settings, force, forceCa, refused, startedAt });
    if (action.kind === 'done' || action.kind === 'blocked') {
      return { action, facts };
    }
    if (action.kind === 'wait') {
      if (run.blockOn.has(action.for) && !run.signal.aborted) {
        run.report({ action: action.kind, reason: `until ${action.until.toISOString()}: ${action.reason}` });
        steps = 0;
        await run.clock.sleep(Math.min(maxSleepMs, action.until.getTime() - run.clock.now().getTime()));
      }
      if (!run.blockOn.has(action.for) || run.signal.aborted) {
        return { action, facts };
      }
      continue;
    }
    if (run.signal.aborted) {
      return { action: { kind: 'blocked', reason: 'stopped; the next run continues from here' }, facts };
    }
    if (++steps > maxSteps) {
      const reason = `another client keeps undoing the changes: after ${maxSteps} steps, ${action.reason}; stop that client and run again`;
      return { action: { kind: 'blocked', reason }, facts };
    }
    try {
      if (action.kind === 'inject') {
        await recordInjection(run, snapshot);
        await injectAll(run, facts, refused);
      } else {
        await perform(run, action.kind, snapshot);
        run.report({ action: action.kind, reason: action.reason });
        force &&= action.kind !== 'issue-serving-certificate';
      }
      conflicts = 0;
    } catch (error) {
      if (!(error instanceof Conflict && ++conflicts < maxConflicts)) {
        throw error;
      }
      run.report({ action: 'conflict', reason: `${action.kind}: ${error.message}; reading again` });
      await run.clock.sleep(Math.min(2000, 50 * 2 ** conflicts));
    }
  }
}

/** Records that targets are about to trust another CA: also a later run waits the propagation delay from here on. */
async function recordInjection({ store, clock }: Run, { facts, caSecret }: Snapshot): Promise<void> {
  const { stage, signer, active } = facts;
  if (caSecret !== undefined && (stage !== 'steady' || signer?.fingerprint !== usable(active)?.fingerprint)) {
    const annotations = { ...caSecret.annotations, [injectedAtAnnotation]: clock.now().toISOString() };
    await store.write('ca', { data: caSecret.data, annotations }, caSecret);
  }
}

/** Writes the bundle into targets as read once: to read all again for each would be quadratic. @throws {Conflict} after all. */
async function injectAll(run: Run, facts: CertificateFacts, refused: Map<string, string>): Promise<void> {
  const bundle = { state: 'usable', value: facts.bundle } as const;
  const conflicts: string[] = [];
  for (const target of facts.targets) {
    if (target.state !== 'present' || refused.has(target.id)) {
      continue;
    }
    if (run.signal.aborted) {
      break;
    }
    const { id, result, reason = '' } = await injectInto(run.targets, target, () => bundle);
    if (result === 'written') {
      run.report({ action: 'inject', reason: `${id} does not have the trust bundle of stage ${facts.stage}` });
    } else if (result === 'failed') {
      refused.set(id, reason);
      run.report({ action: 'refused', reason: `${id}: ${reason}` });
    } else if (result === 'conflict') {
      conflicts.push(reason);
    }
  }
  if (conflicts.length > 0) {
    throw new Conflict(conflicts.join('; '));
  }
}

function changed(data: Record<string, string>, changes: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries({ ...data, ...changes });
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

type SecretWrite = Exclude<Action['kind'], 'inject' | 'wait' | 'blocked' | 'done'>;

const empty: SecretContents = { data: {}, annotations: {} };

async function perform(run: Run, write: SecretWrite, { facts, caSecret, servingSecret }: Snapshot): Promise<void> {
  const { store, clock } = run;
  const current = caSecret ?? empty;
  const writeCa = (changes: Record<string, string | undefined>, annotations = current.annotations) =>
    store.write('ca', { data: changed(current.data, changes), annotations }, caSecret);
  const annotated = (changes: Record<string, string | undefined>) => changed(current.annotations, changes);
  const writeServing = (changes: Record<string, string>) => {
    const { data, annotations } = servingSecret ?? empty;
    return store.write('serving', { data: changed(data, changes), annotations }, servingSecret);
  };
  const staged = { [stagedSinceAnnotation]: clock.now().toISOString() };
  switch (write) {
    case 'create-ca': {
      const { inUse, previous } = facts;
      const issued = issueCa(clock.now(), caValidityMs);
      return writeCa(
        {
          'ca.crt': issued.certificate.pem,
          'ca.key': issued.key,
          'next.crt': undefined,
          'next.key': undefined,
          'previous.crt': inUse && bundleOf([inUse, ...previous]),
        },
        annotated(inUse === undefined ? {} : staged),
      );
    }
    case 'trust-ca':
      return writeCa({ 'previous.crt': bundleOf([facts.inUse as Certificate, ...facts.previous]) }, annotated(staged));
    case 'stage-ca': {
      const issued = issueCa(clock.now(), caValidityMs);
      return writeCa({ 'next.crt': issued.certificate.pem, 'next.key': issued.key }, annotated(staged));
    }
    case 'promote': {
      const { active, companions, successor, previous } = facts;
      return writeCa({
        'ca.crt': (usable(successor) as Certificate).pem,
        'ca.key': current.data['next.key'],
        'next.crt': undefined,
        'next.key': undefined,
        'previous.crt': bundleOf([usable(active) as Certificate, ...companions, ...previous]),
      });
    }
    case 'retire':
      return writeCa(
        { 'previous.crt': undefined },
        annotated({ [stagedSinceAnnotation]: undefined, [injectedAtAnnotation]: undefined }),
      );
    case 'issue-serving-certificate': {
      const issuer = { certificate: usable(facts.active) as Certificate, key: usable(facts.activeKey) as string };
      const { certificate, key } = issueServingCertificate(issuer, run.names, clock.now(), servingValidityMs);
      return writeServing({ 'tls.crt': certificate.pem, 'tls.key': key, 'ca.crt': facts.bundle });
    }
    case 'write-bundle':
      return writeServing({ 'ca.crt': facts.bundle });
  }
}
