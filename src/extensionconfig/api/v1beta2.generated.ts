// Generated from manifests/crd by `npm run generate`. Do not edit.

/**
 * ExtensionConfig registers one Runtime Extension server with Cluster API.
 */
export interface ExtensionConfig {
  /**
   * API version of this object, as GROUP/VERSION.
   */
  apiVersion: string;
  /**
   * Kind of this object, always ExtensionConfig.
   */
  kind: string;
  /**
   * metav1.ObjectMeta, with the fields that this program reads.
   */
  metadata: {
    name?: string;
    generateName?: string;
    namespace?: string;
    annotations?: {
      [k: string]: string;
    };
    labels?: {
      [k: string]: string;
    };
    deletionTimestamp?: string;
  };
  /**
   * Desired state of the ExtensionConfig.
   */
  spec?: {
    /**
     * How Cluster API connects to the extension server. Exactly one of url and service must be set.
     */
    clientConfig?: {
      /**
       * URL of an extension server outside the cluster, as https://HOST[:PORT][/PATH].
       */
      url?: string;
      /**
       * Reference to the Service of an extension server that runs in this cluster.
       */
      service?: {
        /**
         * Namespace of the Service.
         */
        namespace?: string;
        /**
         * Name of the Service.
         */
        name?: string;
        /**
         * URL path that is put in front of the path of each hook. Starts with a slash.
         */
        path?: string;
        /**
         * Port of the Service, 1 to 65535. Defaults to 443.
         */
        port?: number;
      };
      /**
       * PEM-encoded CA bundle, in base64, used to verify the extension server's serving certificate.
       */
      caBundle?: string;
    };
    /**
     * Label selector for namespaces. The extension is called only for Clusters in a namespace that matches. Defaults to all namespaces.
     */
    namespaceSelector?: {
      /**
       * Labels that a namespace must have, with exactly these values.
       */
      matchLabels?: {
        [k: string]: string;
      };
      /**
       * Label selector requirements. All of them must be met.
       *
       * Items: A requirement on one label key.
       */
      matchExpressions?: {
        /**
         * Label key that the requirement applies to.
         */
        key?: string;
        /**
         * Operator of the requirement, one of In, NotIn, Exists and DoesNotExist.
         */
        operator?: string;
        /**
         * Values to compare with. Required for In and NotIn, must be empty for Exists and DoesNotExist.
         */
        values?: string[];
      }[];
    };
    /**
     * Key-value pairs sent with every call to the extension server. They are stored in clear text and must not contain credentials.
     */
    settings?: {
      [k: string]: string;
    };
  };
  /**
   * Observed state of the ExtensionConfig, written by Cluster API.
   */
  status?: {
    /**
     * Conditions of the ExtensionConfig. Known types are Discovered and Paused.
     *
     * Items: A condition, in the format of metav1.Condition.
     */
    conditions?: {
      /**
       * Type of the condition, in CamelCase.
       */
      type?: string;
      /**
       * Status of the condition, one of True, False and Unknown.
       */
      status?: string;
      /**
       * Value of metadata.generation that the condition was set for.
       */
      observedGeneration?: number;
      /**
       * When the condition's status last changed.
       */
      lastTransitionTime?: string;
      /**
       * Reason for the last change, in CamelCase.
       */
      reason?: string;
      /**
       * Human-readable details of the last change.
       */
      message?: string;
    }[];
    /**
     * Handlers that the extension server reported when it was last discovered.
     *
     * Items: A handler of the extension server.
     */
    handlers?: {
      /**
       * Unique name of the handler, as HANDLER.EXTENSIONCONFIG-NAME.
       */
      name?: string;
      /**
       * Hook that the handler serves, and its version.
       */
      requestHook?: {
        /**
         * Group and version of the hook, as GROUP/VERSION.
         */
        apiVersion?: string;
        /**
         * Name of the hook.
         */
        hook?: string;
      };
      /**
       * Seconds after which a call of the handler times out, at least 1. Defaults to 10.
       */
      timeoutSeconds?: number;
      /**
       * How Cluster API treats a failed call of the handler, Ignore or Fail. Defaults to Fail.
       */
      failurePolicy?: string;
    }[];
    /**
     * Status fields of older contracts that v1beta2 has no other place for.
     */
    deprecated?: {
      /**
       * Status fields of the v1beta1 contract.
       */
      v1beta1?: {
        /**
         * Conditions as Cluster API's v1beta1 contract defines them.
         *
         * Items: A condition of the v1beta1 contract.
         */
        conditions?: {
          /**
           * Type of the condition, in CamelCase.
           */
          type?: string;
          /**
           * Status of the condition, one of True, False and Unknown.
           */
          status?: string;
          /**
           * Severity of a condition that is False, one of Error, Warning, Info and empty.
           */
          severity?: string;
          /**
           * When the condition's status last changed.
           */
          lastTransitionTime?: string;
          /**
           * Reason for the last change, in CamelCase.
           */
          reason?: string;
          /**
           * Human-readable details of the last change.
           */
          message?: string;
        }[];
      };
    };
  };
}
