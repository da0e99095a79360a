import { caProblem, isSignedBy, readCertificates, usable } from '../../base/x509/index.ts';
import { explain, isStatus } from '../../kubernetes/client/index.ts';
import { itemsAt, type JsonObject, objectsAt, textAt } from '../../kubernetes/index.ts';
import {
  type CertificateFacts,
  clusterStore,
  clusterTargets,
  deriveFacts,
  externalProblem,
  issuerAnnotation,
  next,
  readRotation,
} from '../../webhook/certs/index.ts';
import { failed, type Installation, ok, readable, skipped, type Tick } from './tick.ts';

const rotateNow = 'run the rotation Job (docs/operations.md#rotate-now), and read its log if it fails';

const storeOf = ({ cluster, namespace, secret, caSecret }: Installation) =>
  clusterStore(cluster, namespace, { ca: caSecret, serving: secret });

const readTargets = ({ cluster, namespace, service }: Installation) =>
  clusterTargets(cluster, {
    named: [
      { kind: 'MutatingWebhookConfiguration', name: service },
      { kind: 'ValidatingWebhookConfiguration', name: service },
    ],
    service: { namespace, name: service },
  }).read();

export async function registered(installation: Installation): Promise<Tick[]> {
  const check = 'webhooks';
  const service = `the service ${installation.namespace}/${installation.service}`;
  const remedy = 'apply the manifests again: kubectl apply -k manifests/overlays/default';
  return (await readTargets(installation)).map(({ id, state, problem = '', bundles }) =>
    state === 'failed'
      ? failed(check, problem, readable)
      : state === 'missing'
        ? failed(check, `${id} does not exist, so nothing is checked`, remedy)
        : bundles.length === 0
          ? failed(check, `${id} does not call ${service}`, remedy)
          : ok(check, `${id} calls ${service}`),
  );
}

/** What the rotation Job would do now, unless that belongs to a rotation that goes on by itself. */
function dueStep(facts: CertificateFacts): string | undefined {
  const settings = { mode: 'rotate', force: false, forceCa: false, propagationDelayMs: 0, overlapMs: 0 } as const;
  const { kind, reason } = next(facts, { ...settings, refused: new Map(), startedAt: facts.now });
  return ['done', 'wait', 'promote', 'retire'].includes(kind) ? undefined : reason;
}

/** The CA and the serving certificate, and whether what API servers trust has signed it. */
export async function certificates(installation: Installation): Promise<Tick[]> {
  const check = 'certificate';
  const { namespace, service, now } = installation;
  const store = storeOf(installation);
  const tls = await store.read('serving');
  const isOurs = tls?.annotations[issuerAnnotation] === undefined;
  const ca = isOurs ? await store.read('ca') : undefined;
  const facts = deriveFacts(now, ca, tls, [], [`${service}.${namespace}.svc`]);
  const problem = isOurs ? dueStep(facts) : externalProblem(facts);
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
  const isTrustedBy = (bundle: string) =>
    usable(readCertificates(bundle))?.some((one) => caProblem(one, now) === undefined && isSignedBy(certificate, one));
  for (const { id, bundles } of await readTargets(installation)) {
    if (bundles.length > 0) {
      const text = `the caBundle of ${id} does not trust the serving certificate, so writes fail, or are not reviewed (failurePolicy: Ignore)`;
      ticks.push(bundles.every(isTrustedBy) ? ok(check, `${id} trusts it`) : failed(check, text, 'run certs inject'));
    }
  }
  return ticks;
}

/** The last Job of the certificates (rotation or bootstrap), if it failed. @throws {Forbidden} */
async function failedJob({ cluster, namespace }: Installation): Promise<Tick[]> {
  const selector = encodeURIComponent('app.kubernetes.io/component=certificates');
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs?labelSelector=${selector}`;
  const jobs = await cluster.request('GET', path).catch((error: unknown) => {
    throw isStatus(error, 403) ? explain(error, 'list', 'jobs.batch', namespace) : error;
  });
  const created = (job: JsonObject) => textAt(job, 'metadata', 'creationTimestamp');
  const newest = objectsAt(jobs.items)
    .toSorted((a, b) => created(a).localeCompare(created(b)))
    .at(-1);
  const failure = itemsAt(newest, 'status', 'conditions').find(
    (one) => textAt(one, 'type') === 'Failed' && textAt(one, 'status') === 'True',
  );
  const name = textAt(newest, 'metadata', 'name');
  const text = `Job ${name}, the last one, failed: ${textAt(failure, 'message')}`;
  const remedy = `read why, and correct it: kubectl -n ${namespace} logs job/${name}`;
  return failure === undefined ? [] : [failed('rotation', text, remedy)];
}

/** Who rotates, whether that happens, and whether the last Job of it succeeded. */
export async function rotation(installation: Installation): Promise<Tick[]> {
  const check = 'rotation';
  const { cluster, namespace, now } = installation;
  const serving = await storeOf(installation).read('serving');
  const { state, text } = await readRotation(cluster, namespace, serving, now);
  if (state === 'missing' && installation.isSandbox) {
    return [skipped(check, 'no Job runs in the sandbox: certs rotate renews its certificates')];
  }
  if (state === 'external') {
    return [ok(check, text)];
  }
  const remedy = state === 'silent' ? rotateNow : 'apply the manifests again, or resume the CronJob';
  return [state === 'well' ? ok(check, text) : failed(check, text, remedy), ...(await failedJob(installation))];
}
