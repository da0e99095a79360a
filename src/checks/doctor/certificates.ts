import { caProblem, isSignedBy, problemOf, readCertificates, usable } from '../../base/x509/index.ts';
import { explain, isStatus } from '../../kubernetes/client/index.ts';
import { itemsAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import {
  type CertificateFacts,
  clusterStore,
  clusterTargets,
  deriveFacts,
  describeIssuer,
  describeRotation,
  next,
  readRotationJob,
  servingCertificateDueAt,
} from '../../webhook/certs/index.ts';
import { failed, type Installation, ok, skipped, type Tick } from './tick.ts';

const rotateNow = 'run the rotation Job (docs/operations.md#rotate-now), and read its log if it fails';

const storeOf = ({ cluster, namespace, secret, caSecret }: Installation) =>
  clusterStore(cluster, namespace, { ca: caSecret, serving: secret });

/** What the rotation Job would do now, unless that belongs to a rotation that goes on by itself. */
function dueStep(facts: CertificateFacts, caRenewBeforeMs: number): string | undefined {
  const settings = { mode: 'rotate', force: false, forceCa: false, propagationDelayMs: 0, overlapMs: 0 } as const;
  const { kind, reason } = next(facts, { ...settings, caRenewBeforeMs, refused: new Map(), startedAt: facts.now });
  return ['done', 'wait', 'promote', 'retire'].includes(kind) ? undefined : reason;
}

/** Why a serving certificate of another issuer cannot be used any more, or not for long. */
function foreignProblem({ serving, servingLacks, now }: CertificateFacts): string | undefined {
  const certificate = usable(serving);
  return certificate === undefined
    ? `the serving certificate ${problemOf(serving)}`
    : servingLacks.length > 0
      ? `the serving certificate is not for ${servingLacks.join(', ')}`
      : certificate.x509.validFromDate > now || servingCertificateDueAt(certificate) <= now
        ? `the serving certificate is valid from ${certificate.x509.validFromDate.toISOString()} to ${certificate.x509.validToDate.toISOString()}`
        : undefined;
}

/** The CA and the serving certificate, and whether what API servers trust has signed it. */
export async function certificates(installation: Installation): Promise<Tick[]> {
  const check = 'certificate';
  const { cluster, namespace, service, now } = installation;
  const names = [`${service}.${namespace}.svc`];
  const store = storeOf(installation);
  const tls = await store.read('serving');
  const isOurs = describeIssuer(tls) === undefined;
  const facts = deriveFacts(now, isOurs ? await store.read('ca') : undefined, tls, [], names);
  const problem = isOurs ? dueStep(facts, installation.caRenewBeforeMs) : foreignProblem(facts);
  const certificate = usable(facts.serving);
  const until = certificate?.x509.validToDate.toISOString();
  const ticks = [
    problem === undefined
      ? ok(check, `the serving certificate is valid until ${until}, and nothing is due`)
      : failed(check, problem, rotateNow),
  ];
  if (certificate === undefined) {
    return ticks;
  }
  const targets = clusterTargets(cluster, {
    named: [
      { kind: 'MutatingWebhookConfiguration', name: service },
      { kind: 'ValidatingWebhookConfiguration', name: service },
    ],
    service: { namespace, name: service },
  });
  for (const { id, state, bundles } of await targets.read()) {
    const distrusted = bundles.filter(
      (bundle) =>
        !(usable(readCertificates(bundle)) ?? []).some(
          (ca) => caProblem(ca, now) === undefined && isSignedBy(certificate, ca),
        ),
    );
    if (state === 'present') {
      ticks.push(
        distrusted.length > 0
          ? failed(
              check,
              `the caBundle of ${id} does not trust the serving certificate, so writes fail, or are not reviewed (failurePolicy: Ignore)`,
              'run certs inject',
            )
          : ok(check, `${id} trusts it`),
      );
    }
  }
  return ticks;
}

/** How long the hourly rotation may be silent, in ms. */
const silentMs = 3 * 3_600_000;

/** Who rotates, and whether the last Job of it succeeded. */
export async function rotation(installation: Installation): Promise<Tick[]> {
  const check = 'rotation';
  const { cluster, namespace, now } = installation;
  const issuer = describeIssuer(await storeOf(installation).read('serving'));
  if (issuer !== undefined) {
    return [ok(check, issuer)];
  }
  const job = await readRotationJob(cluster, namespace);
  if (job === undefined && installation.isSandbox) {
    return [skipped(check, 'no Job runs in the sandbox: certs rotate renews its certificates')];
  }
  const text = describeRotation(job, namespace);
  if (job === undefined || job.isSuspended) {
    return [failed(check, text, 'apply the manifests again, or resume the CronJob')];
  }
  const last = Date.parse(job.lastSuccess ?? '');
  const ticks = [now.getTime() - last > silentMs ? failed(check, text, rotateNow) : ok(check, text)];
  const selector = encodeURIComponent('app.kubernetes.io/component=certificates');
  const jobs = await cluster
    .request('GET', `/apis/batch/v1/namespaces/${namespace}/jobs?labelSelector=${selector}`)
    .catch((error: unknown) => {
      throw isStatus(error, 403) ? explain(error, 'list', 'jobs.batch', namespace) : error;
    });
  const newest = objectsAt(jobs.items)
    .toSorted((a, b) =>
      textAt(a, 'metadata', 'creationTimestamp').localeCompare(textAt(b, 'metadata', 'creationTimestamp')),
    )
    .at(-1);
  const failure = itemsAt(newest, 'status', 'conditions').find(
    (one) => textAt(one, 'type') === 'Failed' && textAt(one, 'status') === 'True',
  );
  if (failure !== undefined) {
    const name = textAt(newest, 'metadata', 'name');
    ticks.push(
      failed(
        check,
        `Job ${name}, the last one, failed: ${textAt(failure, 'message')}`,
        `kubectl -n ${namespace} logs job/${name}`,
      ),
    );
  }
  return ticks;
}
