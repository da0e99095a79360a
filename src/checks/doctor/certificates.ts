import { caProblem, isSignedBy, problemOf, readCertificates, usable } from '../../base/x509/index.ts';
import { explain, isStatus } from '../../kubernetes/client/index.ts';
import { itemsAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import {
  type CertificateFacts,
  caDueAt,
  clusterStore,
  clusterTargets,
  deriveFacts,
  describeIssuer,
  describeRotation,
  readRotationJob,
  servingCertificateDueAt,
} from '../../webhook/certs/index.ts';
import { failed, type Installation, ok, skipped, type Tick } from './tick.ts';

const rotateNow = 'run the rotation Job (docs/operations.md#rotate-now), and read its log if it fails';

const storeOf = ({ cluster, namespace, secret, caSecret }: Installation) =>
  clusterStore(cluster, namespace, { ca: caSecret, serving: secret });

/** The CA, without which nothing can be renewed; the program has none where another one issues the certificates. */
function caTick({ active, activeKey, successor, now }: CertificateFacts, where: string, renewBeforeMs: number): Tick {
  const check = 'certificate';
  const ca = usable(active);
  if (ca === undefined || activeKey.state !== 'usable') {
    const problem =
      ca === undefined
        ? `the CA in ${where} ${problemOf(active)}`
        : `the key of the CA in ${where} ${problemOf(activeKey)}`;
    return successor.state === 'usable'
      ? ok(check, `${problem}, and the next CA replaces it`)
      : failed(check, `${problem}, so nothing can be renewed`, rotateNow);
  }
  const due = caDueAt(ca, renewBeforeMs);
  const valid = `valid until ${ca.x509.validToDate.toISOString()}, renewed from ${due.toISOString()} on`;
  return due <= now ? failed(check, `the CA is due: ${valid}`, rotateNow) : ok(check, `the CA is ${valid}`);
}

/** The CA and the serving certificate, and whether what API servers trust has signed it. */
export async function certificates(installation: Installation): Promise<Tick[]> {
  const check = 'certificate';
  const { cluster, namespace, service, secret, caSecret, now } = installation;
  const names = [`${service}.${namespace}.svc`];
  const store = storeOf(installation);
  const tls = await store.read('serving');
  const isOurs = describeIssuer(tls) === undefined;
  const facts = deriveFacts(now, isOurs ? await store.read('ca') : undefined, tls, [], names);
  const ticks = isOurs ? [caTick(facts, `Secret ${namespace}/${caSecret}`, installation.caRenewBeforeMs)] : [];
  const { serving, servingLacks } = facts;
  const certificate = usable(serving);
  if (certificate === undefined) {
    const problem = `the serving certificate in Secret ${namespace}/${secret} ${problemOf(serving)}`;
    return [...ticks, failed(check, problem, rotateNow)];
  }
  const { validFromDate, validToDate } = certificate.x509;
  const due = servingCertificateDueAt(certificate);
  const valid = `valid until ${validToDate.toISOString()}, renewed from ${due.toISOString()} on`;
  if (servingLacks.length > 0) {
    ticks.push(failed(check, `the serving certificate is not for ${servingLacks.join(', ')}`, rotateNow));
  } else if (validFromDate > now) {
    ticks.push(
      failed(check, `the serving certificate is not valid before ${validFromDate.toISOString()}`, 'correct the clocks'),
    );
  } else if (due <= now) {
    ticks.push(failed(check, `the serving certificate is due: ${valid}`, rotateNow));
  } else {
    ticks.push(ok(check, `the serving certificate is ${valid}`));
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
