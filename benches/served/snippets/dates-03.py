import pandas as pd
from pandas.tseries.offsets import BDay, BMonthEnd, MonthEnd, CustomBusinessDay, DateOffset, QuarterEnd
from pandas.tseries.holiday import USFederalHolidayCalendar, AbstractHolidayCalendar, Holiday, nearest_workday

start = pd.Timestamp("2024-07-03")
print("+1 business day :", (start + BDay(1)).date())
print("month end       :", (start + MonthEnd(0)).date())
print("business m. end :", (start + BMonthEnd(2)).date())
print("quarter end     :", (start + QuarterEnd()).date())
print("+1 month +3 days:", (start + DateOffset(months=1, days=3)).date())
print("rollback        :", BMonthEnd().rollback(start).date())

us = CustomBusinessDay(calendar=USFederalHolidayCalendar())
print("+2 US workdays  :", (start + 2 * us).date())


class FestiveCalendar(AbstractHolidayCalendar):
    rules = [
        Holiday("Founders", month=7, day=6, observance=nearest_workday),
        Holiday("Summer", month=8, day=15),
    ]


days = pd.date_range("2024-07-01", "2024-08-31", freq=CustomBusinessDay(calendar=FestiveCalendar()))
print("Workdays:", len(days))
hol = FestiveCalendar().holidays("2024-01-01", "2024-12-31", return_name=True)
print(hol)
print(pd.bdate_range("2024-07-01", periods=4, freq="C", weekmask="Mon Wed Fri").strftime("%a %d").tolist())
