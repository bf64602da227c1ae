//! Attributes that every table has; any other name read from one is a column.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Whether DataFrame, Series (pandas 2.3 and 3.1), a list or a dict has a public attribute of this
/// name.
pub fn is_table_attribute(name: &str) -> bool {
    ATTRIBUTES.contains(name)
}

static ATTRIBUTES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "T abs add add_prefix add_suffix agg aggregate align all any append apply applymap argmax \
     argmin argsort array asfreq asof assign astype at at_time attrs autocorr axes backfill \
     between between_time bfill bool boxplot case_when cat clear clip columns combine \
     combine_first compare convert_dtypes copy corr corrwith count cov cummax cummin cumprod \
     cumsum describe diff div divide divmod dot drop drop_duplicates droplevel dropna dt dtype \
     dtypes duplicated empty eq equals eval ewm expanding explode extend factorize ffill fillna \
     filter first first_valid_index flags floordiv from_arrow from_dict from_records ge get \
     groupby gt hasnans head hist iat idxmax idxmin iloc index infer_objects info insert \
     interpolate is_monotonic_decreasing is_monotonic_increasing is_unique isetitem isin isna \
     isnull item items iterrows itertuples join keys kurt kurtosis last last_valid_index le list \
     loc lt mad map mask max mean median melt memory_usage merge min mod mode mul multiply name \
     nbytes ndim ne nlargest notna notnull nsmallest nunique pad pct_change pipe pivot \
     pivot_table plot pop pow prod product quantile query radd rank ravel rdiv reindex \
     reindex_like remove rename rename_axis reorder_levels repeat replace resample reset_index \
     reverse rfloordiv rmod rmul rolling round rpow rsub rtruediv sample searchsorted select \
     select_dtypes sem set_axis set_flags set_index setdefault shape shift size skew sort \
     sort_index sort_values sparse squeeze stack std str struct style sub subtract sum swapaxes \
     swaplevel tail take to_clipboard to_csv to_dict to_excel to_feather to_frame to_gbq to_hdf \
     to_html to_iceberg to_json to_latex to_list to_markdown to_numpy to_orc to_parquet to_period \
     to_pickle to_records to_sql to_stata to_string to_timestamp to_xarray to_xml tolist \
     transform transpose truediv truncate tz_convert tz_localize unique unstack update \
     value_counts values var view where xs"
        .split_whitespace()
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_not_columns() {
        assert!(is_table_attribute("groupby") && is_table_attribute("iloc"));
        assert!(!is_table_attribute("amount"));
    }
}
