import { readableCertificates } from '../../base/x509/index.ts';
import { type JsonObject, type StatusCause, textAt } from '../../kubernetes/index.ts';
import { invalid } from '../../kubernetes/schema/index.ts';
import { isConditionTrue } from './conditions.ts';

/** The caBundle of a definition's conversion webhook; undefined without one. */
function bundleOf(object: JsonObject): string | undefined {
  return textAt(object, 'spec', 'conversion', 'webhook', 'clientConfig', 'caBundle') || undefined;
}

/** Earlier results by spec: every change of a definition rechecks all that are not established. */
const known = new WeakMap<object, boolean>();

/** Whether a definition, which is no longer modified, has a caBundle in which an API server finds no certificate. */
export function hasBadBundle(object: JsonObject): boolean {
  const bundle = bundleOf(object);
  if (bundle === undefined) {
    return false;
  }
  const spec = object.spec as JsonObject;
  let isBad = known.get(spec);
  if (isBad === undefined) {
    isBad = readableCertificates(Buffer.from(bundle, 'base64').toString('latin1')).next().done === true;
    known.set(spec, isBad);
  }
  return isBad;
}

/**
 * Since Kubernetes 1.31 a definition with an unusable caBundle is stored but not established, and an established
 * definition may not be given one: none of its objects could be converted any more.
 */
export function bundleCauses(object: JsonObject, old: JsonObject | undefined): StatusCause[] {
  const mayBeBad = old === undefined || !isConditionTrue(old, 'Established') || hasBadBundle(old);
  return !mayBeBad && hasBadBundle(object)
    ? [
        invalid(
          'spec.conversion.webhookClientConfig.caBundle',
          bundleOf(object),
          'unable to load root certificates: unable to parse bytes as PEM block',
        ),
      ]
    : [];
}
