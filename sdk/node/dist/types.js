// Parameters and responses, named as in the API reference.
export {};
