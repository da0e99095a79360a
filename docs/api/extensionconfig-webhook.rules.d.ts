export interface CheckOptions {
  profile?: 'strict' | 'upstream' | undefined;
  levels?: Readonly<Record<string, 'off' | 'warn' | 'deny'>> | undefined;
  clusterApiVersion?: string | undefined;
  maxHandlerTimeoutSeconds?: number | undefined;
  now?: Date | undefined;
}
export interface Problem {
  rule: string;
  severity: 'deny' | 'warn';
  field: string;
  message: string;
}
export interface RuleDescription {
  id: string;
  summary: string;
  severity: 'deny' | 'warn';
  upstream: boolean;
}
export declare const ruleDescriptions: readonly RuleDescription[];
export declare function checkExtensionConfig(object: unknown, options?: CheckOptions): Problem[];