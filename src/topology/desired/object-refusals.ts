import {
  type JsonObject,
  type LabelSelector,
  objectAt,
  selectsLabels,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import { refusalOf } from '../world/webhook-refusal.ts';

/**
 * Why the webhook of MachineDeployment does not take an update, in its words; undefined if it does, as far as that is
 * known here (core/webhooks/admission/machinedeployment.go, v1.14).
 */
export function machineDeploymentRefusal(before: JsonObject, after: JsonObject): string | undefined {
  if (textAt(after, 'kind') !== 'MachineDeployment') {
    return undefined;
  }
  const clusterName = textAt(after, 'spec', 'clusterName');
  const selector = objectAt(after, 'spec', 'selector') as LabelSelector;
  const problems = [
    ...(selectsLabels(selector, textValues(objectAt(after, 'spec', 'template', 'metadata', 'labels')))
      ? []
      : ['spec.template.metadata.labels: Forbidden: must match spec.selector']),
    ...(textAt(before, 'spec', 'clusterName') === clusterName
      ? []
      : ['spec.clusterName: Forbidden: field is immutable']),
    ...(textAt(after, 'spec', 'template', 'spec', 'clusterName') === clusterName
      ? []
      : [
          `spec.clusterName: Invalid value: ${JSON.stringify(clusterName)}: spec.clusterName and spec.template.spec.clusterName must be set to the same value`,
        ]),
  ];
  return refusalOf(after, problems);
}
