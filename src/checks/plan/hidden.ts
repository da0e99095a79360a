import { isJsonObject, type Json } from '../../kubernetes/index.ts';
import type { Cause, Plan } from '../../topology/index.ts';
import { withoutSecrets } from '../unwanted-text.ts';

/** Names of fields whose texts are secrets. A reference to a Secret has a name below such a field, which is shown. */
const secretField =
  /(?:^|[._-])(?:passwd|password|passphrase|token|secret|api[-_]?key|access[-_]?key|private[-_]?key|client[-_]?secret)$|(?:Passwd|Password|Passphrase|Token|Secret|ApiKey|AccessKey|PrivateKey|ClientSecret)$/;

const notShown = '(not shown)';

/** A value without what looks like a secret: by the name of its field, or by what it contains. */
export function withoutSecretValues(value: Json, field = ''): Json {
  if (typeof value === 'string') {
    return secretField.test(field) && value !== '' ? notShown : withoutSecrets(value);
  }
  if (Array.isArray(value)) {
    return value.map((item) => withoutSecretValues(item, field));
  }
  if (!isJsonObject(value)) {
    return value;
  }
  // As variables of a Cluster are written: the name says what the value is.
  const named = typeof value.name === 'string' && secretField.test(value.name) ? value.name : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      withoutSecretValues(inner as Json, name === 'value' ? (named ?? name) : name),
    ]),
  );
}

const hidden = (cause: Cause): Cause => {
  const field = cause.field.split('.').at(-1) ?? '';
  return {
    ...cause,
    ...(cause.before !== undefined && { before: withoutSecretValues(cause.before, field) }),
    ...(cause.after !== undefined && { after: withoutSecretValues(cause.after, field) }),
  };
};

/** The plan without values that look like secrets. */
export function withoutSecretCauses(plan: Plan): Plan {
  const clusters = plan.clusters.map((cluster) => ({
    ...cluster,
    groups: cluster.groups.map((group) => ({
      ...group,
      causes: group.causes.map(hidden),
      ...(group.healthCheck && { healthCheck: group.healthCheck.map(hidden) }),
      ...(group.problems && {
        problems: group.problems.map((problem) => ({
          ...problem,
          ...(problem.causes && { causes: problem.causes.map(hidden) }),
        })),
      }),
    })),
  }));
  return { ...plan, clusters };
}
