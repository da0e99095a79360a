// A new rule is an entry in a file of checks/.
import { apiVersionRules } from './checks/api-version.ts';
import { caBundleRules } from './checks/ca-bundle.ts';
import { clientConfigRules } from './checks/client-config.ts';
import { deletionRules } from './checks/deletion.ts';
import { handlersRules } from './checks/handlers.ts';
import { hookVersionsRules } from './checks/hook-versions.ts';
import { inPlaceRules } from './checks/in-place.ts';
import { metadataRules } from './checks/metadata.ts';
import { namespaceSelectorRules } from './checks/namespace-selector.ts';
import { schemaRules } from './checks/schema.ts';
import { secretRules } from './checks/secret.ts';
import { serviceRules } from './checks/service.ts';
import { urlRules } from './checks/url.ts';
import type { Rule } from './rule.ts';

const byField: readonly Rule[] = [
  ...apiVersionRules,
  ...metadataRules,
  ...schemaRules,
  ...clientConfigRules,
  ...urlRules,
  ...serviceRules,
  ...caBundleRules,
  ...secretRules,
  ...namespaceSelectorRules,
  ...handlersRules,
  ...hookVersionsRules,
  ...inPlaceRules,
  ...deletionRules,
];

/** All rules: Cluster API's own first, then the stricter denials, then the warnings. */
export const rules: readonly Rule[] = [
  ...byField.filter(({ upstream }) => upstream),
  ...byField.filter(({ upstream, severity }) => !upstream && severity === 'deny'),
  ...byField.filter(({ upstream, severity }) => !upstream && severity === 'warn'),
];
