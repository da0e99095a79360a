import { withoutControls } from '../../base/index.ts';
import {
  apiVersionOf,
  convert,
  decodeExtensionConfig,
  type ExtensionConfig,
  hubVersion,
  kind,
  versionOf,
} from '../../extensionconfig/index.ts';
import { ConversionError, dns1123LabelProblems, type JsonObject } from '../../kubernetes/index.ts';
import { UsageError } from '../framework/program.ts';

function inHubVersion(object: JsonObject, where: () => string): JsonObject {
  const hub = apiVersionOf(hubVersion);
  if (object.apiVersion === hub && object.kind === kind) {
    return object;
  }
  try {
    return convert(object, hub);
  } catch (error) {
    if (error instanceof ConversionError) {
      throw new UsageError(`${where()}: ${error.path.join('.')} ${error.message}`);
    }
    throw error;
  }
}

/** An object at a place as v1beta2. @throws {UsageError} for one that cannot be read as an ExtensionConfig. */
export function readExtensionConfig(object: JsonObject, where: () => string): ExtensionConfig {
  const version = versionOf(object.apiVersion);
  if (version === undefined) {
    throw new UsageError(`${where()}: ${kind} of an unknown apiVersion: write ${apiVersionOf(hubVersion)}`);
  }
  const { object: config, violations } = decodeExtensionConfig(inHubVersion(object, where), hubVersion);
  const [wrong] = violations.filter(({ problem }) => problem === 'type');
  if (wrong !== undefined) {
    throw new UsageError(
      `${where()}: ${wrong.path.join('.')} ${wrong.message}; "lint" reports everything that is wrong`,
    );
  }
  const name = config.metadata.name ?? '';
  if (dns1123LabelProblems(name).length > 0) {
    throw new UsageError(
      `${where()}: metadata.name ${JSON.stringify(withoutControls(name.slice(0, 100)))} is not a DNS label`,
    );
  }
  return config;
}
