import { objectsAt, own, type StatusCause, textAt } from '../../../kubernetes/index.ts';
import { invalid } from '../../../kubernetes/schema/index.ts';
import { allowsVersion, otherVersions, workerLists } from '../../../topology/index.ts';
import type { RehearsedCluster } from '../cluster/state.ts';
import { annotationsOf, concurrencyAnnotation, workerKinds } from '../cluster/state.ts';

function concurrencyCauses(text: string): StatusCause[] {
  const why = /^[+-]?\d{1,15}$/.test(text)
    ? Number(text) < 1 && 'value cannot be less than 1'
    : `could not parse the value of the annotation: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  return why === false ? [] : [invalid(`metadata.annotations.${concurrencyAnnotation}`, text, why)];
}

/** What Cluster API's webhook refuses of a Cluster besides its variables (core/webhooks/admission/cluster.go, v1.14). */
export function topologyCauses({ cluster, blueprint }: RehearsedCluster): StatusCause[] {
  const concurrency = own(annotationsOf(cluster), concurrencyAnnotation);
  const causes = typeof concurrency === 'string' ? concurrencyCauses(concurrency) : [];
  if (blueprint === undefined) {
    return causes;
  }
  const path = 'spec.topology';
  const version = textAt(cluster, 'spec', 'topology', 'version');
  if (!allowsVersion(blueprint, version)) {
    causes.push(invalid(`${path}.version`, version, otherVersions));
  }
  for (const kind of workerKinds) {
    const list = workerLists[kind];
    for (const [index, group] of objectsAt(cluster, 'spec', 'topology', 'workers', list).entries()) {
      const name = textAt(group, 'class');
      if (!blueprint[list].has(name)) {
        const why = `${kind}Class with name ${JSON.stringify(name)} does not exist in ClusterClass ${JSON.stringify(blueprint.name)}`;
        causes.push(invalid(`${path}.workers.${list}[${index}].class`, name, why));
      }
    }
  }
  return causes;
}
