import { paragraph, printable, withoutControls } from '../../../base/index.ts';
import { type Certificate, type Parsed, problemOf, readCertificates, usable } from '../../../base/x509/index.ts';
import {
  type Action,
  type CertificateFacts,
  caDueAt,
  isInSync,
  servingCertificateDueAt,
} from '../../../webhook/certs/index.ts';

interface CertificateStatus {
  what: string;
  subject?: string;
  serial?: string;
  notBefore?: string;
  notAfter?: string;
  due?: string | undefined;
  problem?: string | undefined;
}

function certificateStatus(
  what: string,
  value: Parsed<Certificate>,
  now: Date,
  dueAt: (certificate: Certificate) => Date | undefined = () => undefined,
): CertificateStatus {
  const certificate = usable(value);
  if (certificate === undefined) {
    return { what, problem: problemOf(value) };
  }
  const { subject = '', serialNumber: serial, validFromDate, validToDate } = certificate.x509;
  const due = dueAt(certificate);
  return {
    what,
    subject: printable(subject.split('\n').join(', ')),
    serial,
    notBefore: validFromDate.toISOString(),
    notAfter: validToDate.toISOString(),
    due: due?.toISOString(),
    problem:
      validFromDate > now
        ? `not valid before ${validFromDate.toISOString()}: check the clocks`
        : validToDate <= now
          ? 'expired'
          : due !== undefined && due <= now
            ? 'inside its renewal window'
            : undefined,
  };
}

/** @param action the next step, or why this program does not issue the certificates: then bundle and targets count. */
export function statusOf(facts: CertificateFacts, action: Action | string, bundle: Parsed<string>, rotation: string) {
  const { now } = facts;
  const isExternal = typeof action === 'string';
  const listed = (what: string, all: readonly Certificate[]) =>
    all.map((value) => certificateStatus(what, { state: 'usable', value }, now));
  const certificates: CertificateStatus[] = [];
  if (!isExternal) {
    const active = certificateStatus('CA', facts.active, now, caDueAt);
    if (facts.active.state === 'usable' && facts.activeKey.state !== 'usable') {
      active.problem = `its key ${problemOf(facts.activeKey)}`;
    }
    certificates.push(active);
    if (facts.successor.state !== 'absent') {
      certificates.push(certificateStatus('next CA', facts.successor, now));
    }
    certificates.push(...listed('previous CA', facts.previous));
  }
  const servingDueAt = isExternal ? undefined : servingCertificateDueAt;
  const serving = certificateStatus('serving certificate', facts.serving, now, servingDueAt);
  if (facts.servingLacks.length > 0 && !isExternal) {
    serving.problem = `not for ${facts.servingLacks.join(', ')}`;
  }
  certificates.push(serving);
  const bundleText = usable(bundle);
  certificates.push(
    ...(bundleText === undefined
      ? [{ what: 'trust bundle', problem: problemOf(bundle) }]
      : listed('in trust bundle', usable(readCertificates(bundleText)) ?? [])),
  );
  const wanted = isExternal ? (bundleText ?? '') : facts.bundle;
  const targets = facts.targets.map((target) => ({
    id: target.id,
    state:
      target.state !== 'present'
        ? target.state
        : target.bundles.length === 0
          ? 'left alone'
          : isInSync(target, wanted)
            ? 'in sync'
            : 'out of sync',
    reason: target.problem,
    leftAlone: target.skipped,
  }));
  const { kind, reason } = isExternal ? { kind: 'inject only', reason: action } : action;
  return {
    ok:
      // A wait is part of a normal rotation.
      ['inject only', 'done', 'wait'].includes(kind) &&
      certificates.every(({ problem }) => problem === undefined) &&
      targets.every(({ state }) => state === 'in sync' || state === 'left alone'),
    stage: isExternal ? 'external' : facts.stage,
    certificates,
    targets,
    next: {
      action: kind,
      reason,
      until: !isExternal && action.kind === 'wait' ? action.until.toISOString() : undefined,
    },
    rotation,
  };
}

const seconds = (time = '') => time.replace(/\.\d+Z$/, 'Z');

function certificateLine({
  what,
  problem = 'ok',
  subject,
  serial,
  notBefore,
  notAfter,
  due,
}: CertificateStatus): string {
  const renewed = due === undefined ? '' : `, renewed from ${seconds(due)} on`;
  return serial === undefined
    ? `${what}: ${problem}`
    : `${what}: ${problem}; valid ${seconds(notBefore)} to ${seconds(notAfter)}${renewed} (${subject}, serial ${serial})`;
}

export function renderStatus({ certificates, targets, stage, next, rotation }: ReturnType<typeof statusOf>): string {
  const until = next.until === undefined ? '' : ` until ${next.until}`;
  const lines = [
    ...certificates.map(certificateLine),
    ...targets.flatMap(({ id, state, reason, leftAlone }) => [
      `${id}: ${state}${reason === undefined ? '' : `: ${reason}`}`,
      ...leftAlone.map((line) => `${id}: left alone: ${line}`),
    ]),
    `stage: ${stage}`,
    `next: ${next.action}${until}: ${next.reason}`,
    `rotation: ${rotation}`,
  ];
  const wrapped = lines.flatMap((line) => paragraph('', withoutControls(line), '    '));
  return wrapped.map((line) => `${line}\n`).join('');
}
