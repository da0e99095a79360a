// A new rule is an entry in a file of definitions/.
import { apiVersionRules } from './definitions/api-version.ts';
import { caBundleRules } from './definitions/ca-bundle.ts';
import { clientConfigRules } from './definitions/client-config.ts';
import { deletionRules } from './definitions/deletion.ts';
import { handlersRules } from './definitions/handlers.ts';
import { hookVersionsRules } from './definitions/hook-versions.ts';
import { inPlaceRules } from './definitions/in-place.ts';
import { metadataRules } from './definitions/metadata.ts';
import { namespaceSelectorRules } from './definitions/namespace-selector.ts';
import { schemaRules } from './definitions/schema.ts';
import { secretRules } from './definitions/secret.ts';
import { serviceRules } from './definitions/service.ts';
import { urlRules } from './definitions/url.ts';
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
